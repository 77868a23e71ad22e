"""needs scikit-learn: digits and texts in classes; reports, curves, a calibrated choice."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score, classification_report, confusion_matrix, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, export_text

cancer = load_breast_cancer()
x, test, y, truth = train_test_split(cancer.data, cancer.target, random_state=4, stratify=cancer.target)
for name, model in {"logistic": make_pipeline(StandardScaler(), LogisticRegression()), "vectors": make_pipeline(StandardScaler(), SVC(probability=False)),
                    "tree": DecisionTreeClassifier(max_depth=4, random_state=0), "forest": RandomForestClassifier(60, random_state=0),
                    "histogram": HistGradientBoostingClassifier(max_iter=50, random_state=0), "ada": AdaBoostClassifier(n_estimators=30, random_state=0),
                    "bayes": GaussianNB(), "lda": LinearDiscriminantAnalysis()}.items():
    model.fit(x, y)
    score = model.decision_function(test) if name == "vectors" else model.predict_proba(test)[:, 1]
    print(name, round(accuracy_score(truth, model.predict(test)), 4), round(roc_auc_score(truth, score), 4))
digits = load_digits()
guess = cross_val_predict(make_pipeline(StandardScaler(), SVC(gamma=0.01)), digits.data, digits.target, cv=StratifiedKFold(3))
print(confusion_matrix(digits.target, guess).diagonal().tolist())
print(classification_report(digits.target, guess, digits=4).splitlines()[-1])
net = MLPClassifier((20,), max_iter=60, random_state=0).fit(digits.data / 16, digits.target)
print("network", round(net.score(digits.data / 16, digits.target), 2))
texts = ["cheap pills now", "meeting at noon", "win money now", "lunch with the team", "cheap money offer", "notes of the meeting"]
spam = np.array([1, 0, 1, 0, 1, 0])
words = TfidfVectorizer(ngram_range=(1, 2))
matrix = words.fit_transform(texts)
print(matrix.shape, round(matrix.sum(), 6), MultinomialNB().fit(matrix, spam).predict(words.transform(["money for lunch", "cheap meeting now"])))
print(SelectKBest(f_classif, k=4).fit(x, y).get_support(indices=True).tolist())
vote = VotingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier(max_depth=3, random_state=0))], voting="soft").fit(x, y)
print("vote", round(vote.score(test, truth), 4), "sgd", make_pipeline(StandardScaler(), SGDClassifier(random_state=0)).fit(x, y).score(test, truth) > 0.9)
print(export_text(DecisionTreeClassifier(max_depth=2, random_state=0).fit(x, y), feature_names=list(cancer.feature_names), decimals=4))
