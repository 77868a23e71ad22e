"""needs scikit-learn: a pipeline with mixed columns, cross-validation, a grid, several regressors."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

rng = np.random.default_rng(7)
n = 300
cars = pd.DataFrame({"power": rng.normal(110, 30, n), "weight": rng.normal(1400, 250, n), "age": rng.integers(0, 15, n).astype(float),
                     "fuel": rng.choice(["petrol", "diesel", "gas"], n)})
cars.loc[rng.choice(n, 20, replace=False), "power"] = np.nan
price = 5 + 0.08 * cars["power"].fillna(110) - 0.9 * cars["age"] + (cars["fuel"] == "diesel") * 2 + rng.normal(0, 1, n)
prepare = ColumnTransformer([("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["power", "weight", "age"]),
                             ("kinds", OneHotEncoder(), ["fuel"])])
x, test, y, truth = train_test_split(cars, price, test_size=0.25, random_state=0)
models = {"linear": LinearRegression(), "ridge": Ridge(1.0), "lasso": Lasso(0.05), "elastic": ElasticNet(0.05),
          "neighbours": KNeighborsRegressor(7), "vectors": SVR(C=10), "forest": RandomForestRegressor(40, random_state=1),
          "boosting": GradientBoostingRegressor(n_estimators=60, random_state=1)}
for name, model in models.items():
    pipe = make_pipeline(prepare, model).fit(x, y)
    guess = pipe.predict(test)
    print(name, round(r2_score(truth, guess), 6), round(mean_absolute_error(truth, guess), 6))
scores = cross_val_score(make_pipeline(prepare, Ridge()), cars, price, cv=KFold(5, shuffle=True, random_state=2))
print("folds", *scores.round(6))
grid = GridSearchCV(make_pipeline(prepare, PolynomialFeatures(), Ridge()), {"polynomialfeatures__degree": [1, 2], "ridge__alpha": [0.1, 10]}, cv=3)
grid.fit(x, y)
print("grid", grid.best_params_, round(grid.best_score_, 6))
importance = permutation_importance(make_pipeline(prepare, LinearRegression()).fit(x, y), test, truth, n_repeats=5, random_state=0)
print("importance", *importance.importances_mean.round(6))
