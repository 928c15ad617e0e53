"""Words of software work, by their beginnings, in the languages that are understood: how work is told from other talk."""

from __future__ import annotations

from typing import Final

# A word counts when it is one of these, or begins with one of five letters or more. These are said of hardly anything else.
STRONG: Final = frozenset("""
algorith alembic alpine android ansible argocd async authent autoscal babel backend backfill backport bash benchmark bitbucket
boolean bootstrap bugfix bytecode changelog checksum chrome clang cmake codebase codec commit compil concurren conda config
credential crud css csv cypress daemon database dataclass dataframe dataset dbt deadlock debug decorator depend deploy
deprecat deserial devops diff directory django docker docstring dotenv dropdown duckdb dynamo elastic elixir endpoint enum env
eslint fastapi firebase firmware flask flutter frontend gitea github gitlab golang gradle grafana graphql grep gunicorn hadoop
hardcod headless heroku hotfix hotkey html http hydrat iam idempot ingress inject javascript jenkins jest jinja jira json
jupyter kafka kernel keycloak kotlin kubectl kubern laravel linter linting linux localhost lockfile logger logging login
logout makefile mariadb markdown memcach merge microserv middleware migrat minif monorepo mutex mypy mysql nginx npm nullable
nuget oauth opencv openapi openssl orm overflow pandas param parser parsing payload persist pnpm poetry postgres powershell
precommit prisma prometheus proxy pydantic pylint pytest python pytorch rebase redeploy redis redshift refactor regex replica
repo rollback router rspec ruby ruff runbook runtime saas scalab schema sdk selenium semver sentry shard sidekiq singleton
software sqlalchemy sqlite src ssh ssl stylesheet subdomain submodule subnet subprocess supabase svelte swagger symlink
sysadmin terraform throttl traceback transpil typecheck typescript ubuntu unicode unittest upsert url utf uuid uvicorn venv
virtualenv vite vitest vscode vuex webapp webhook webpack websocket whitelist xcode xml yaml zookeeper abhängigkeit bibliothek
datei datenbank entwickl freigabe funktion konfigur klasse laufzeit mandant modul oberfläche quelltext schnittstelle spalte
tabelle verzeichnis zertifikat aplicac archivo biblioteca cabecera código contenedor contraseña dependencia despleg desarroll
esquema librería migrac repositorio servidor versión
""".split())  # noqa: SIM905

# Of work too, but people also speak so of a train, a kitchen or a party.
WEAK: Final = frozenset("""
alias angular apache archiv array asset author autom backlog backoff backup bandwidth batch binar branch broker browser bucket
buffer build bundle cache caching callback canary cargo celery certificat checkout cleanup client cloud cluster column
component compos connection console constant container controller cookie corrupt coverage crash cron cursor dashboard decod
default develop disk domain downtime driver embed emulator encod encrypt error event exception execut express extension
fallback feature fetch field figma file filter firewall fixture flag flaky flush folder font foreign fork format framework
function gatsby generator handler hash header helm hook identifier ide image import index infra ingest init insert inspect
install instance integrat interface interpreter invoic iterator java job lambda latency layout leak legacy library license
load locale log loop machine metadata method metric mock model module monitor mount namespace network node notebook object
onboard operator oracle orchestr output override package paginat partition password patch permission pipeline pixel plugin
podman pointer pooling port prefix primary process product profil prompt proto publish pull push query queue quota rabbit race
rails raspberry recursion redirect registr regression release reload render request reset resolver response restart retry
revert review rollout rollup root route runner rust sandbox scope screenshot script scroll seed semaphore serial server
service session setup shell signup snapshot snippet socket spec spring sprint squash stack staging standup stash storage
storybook stream string struct stub subscript swift sync syntax system table tag tailwind template tenant tensor terminal test
thread throughput ticket timeout timestamp timezone token tooltip transact trigger tuple typing unit upgrade upload upstream
user validat variable vendor version viewport watcher widget wildcard windows wiki worker workflow workspace wrapper yarn
anwendung ausgabe fehler feld leitung ordner paket prüfung rechner schlüssel sensor speicher umgebung zweig base campo carpeta
clave clase columna consulta entorno fichero función interfaz módulo paquete pantalla prueba puerto rama registro servicio
sistema tabla tarea usuario
""".split())  # noqa: SIM905
