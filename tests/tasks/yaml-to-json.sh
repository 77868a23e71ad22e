cat > deploy.yaml <<'Y'
service: &svc
  image: app:1.2
  env: {DEBUG: "false", PORT: 8080}
  volumes:
    - /data:/data
web:
  <<: *svc
  replicas: 3
  cmd: |
    run --fast
    --port 80
Y
python3 - <<'P' | jq -c '.web | {image, replicas, port: .env.PORT}, (.cmd | split("\n"))'
import yaml, json
print(json.dumps(yaml.safe_load(open("deploy.yaml"))))
P
python3 -c 'import yaml; d = yaml.safe_load(open("deploy.yaml")); d["web"]["replicas"] += 1; print(yaml.safe_dump({"web": {k: d["web"][k] for k in ("replicas", "cmd")}}), end="")'
python3 -c 'import yaml
try: yaml.safe_load("a: [1, 2\nb: 3")
except yaml.YAMLError as e: print(type(e).__name__, e.problem_mark.line)'
python3 -c 'import tomllib, configparser; print(tomllib.loads("a = 1\n[b]\nc = [1.5, \"x\"]\nd = 2024-01-02")); c = configparser.ConfigParser(); c.read_string("[s]\nk = v %(n)s\nn = 1"); print(dict(c["s"]))'
