"""What ends in one use, place, hand or part goes on in the others, in three languages; what ends as a whole ends."""

from __future__ import annotations

import pytest

from hindbrain.reason import relating
from hindbrain.reason.apart import speaks_of_another
from hindbrain.reason.likeness import Likeness
from hindbrain.reason.reflect import judge
from hindbrain.reason.sides import Sides
from tests.reason.knowing import know

LIKENESS = Likeness()
KINDS = ("decision decision", "fact decision", "fact fact", "decision fact", "instruction decision")

APART = [
    ("We use PostgreSQL as the main database.", "We no longer use PostgreSQL for sessions, they're in Redis now."),
    ("We use PostgreSQL for orders.", "The analytics team moved from PostgreSQL to BigQuery."),
    ("We use PostgreSQL for orders.", "The customer's old shop was migrated from PostgreSQL to MySQL."),
    ("We use ArgoCD for deployments.", "We removed the ArgoCD notifications to Slack, too noisy."),
    ("Grafana is at grafana.acme.test.", "We deleted the old Grafana dashboards for Kafka."),
    ("Terraform state is in the S3 bucket acme-tf-state.", "We replaced the S3 bucket for logs with Loki."),
    ("For search we went with Meilisearch instead of Elasticsearch.",
     "We dropped the nightly full reindex; Meilisearch is updated by events now."),
    ("The storefront is a Next.js app in apps/web, the admin is a Vite app in apps/admin.",
     "We replaced Jest with Vitest in apps/web."),
    ("We use Redis for caching in the API.", "We removed Redis from the worker; it polls Postgres now."),
    ("The web app is written in TypeScript.", "The scripts folder isn't TypeScript any more, it's plain Python."),
    ("Use Docker Compose for local development.", "In CI we no longer use Docker Compose, we use testcontainers."),
    ("Use Terraform for all infrastructure.", "We stopped using Terraform for DNS; Cloudflare is configured by hand."),
    ("The API runs on Kubernetes in eu-west-1.", "We don't run the batch jobs on Kubernetes any more, they run on AWS Batch."),
    ("Wir nutzen Redis für Sessions.", "Wir nutzen Redis nicht mehr für das Rate-Limiting."),
    ("Usamos Redis para las sesiones.", "Ya no usamos Redis para la cola de correos."),
    ("The events table is partitioned by hour.", "Late events are dropped after 48 hours."),
    ("The timeout for the payments API is 10 seconds.", "We raised the retry limit for the payments API to 5."),
    ("Max upload size is 20 MB.", "Max upload size for avatars is 2 MB."),
    ("Our clusters run on EKS 1.29.", "EKS gets upgraded to 1.30 in December."),
    ("We use Kafka for order events.", "We removed Kafka from the notification service, it uses SQS now."),
    ("We use Sentry for error tracking.", "We dropped Sentry performance tracing, it was too expensive."),
    ("We use Stripe for payments.", "The Stripe webhook for refunds is gone, we poll instead."),
    ("Logs go to Loki.", "We deleted the Loki dashboards nobody looked at."),
    ("We use GitHub Actions for CI.", "We no longer use GitHub Actions for the nightly backups, that's a cron job now."),
    ("We use Jest for unit tests in apps/web.", "In apps/admin we replaced Jest with Vitest."),
    ("We use MongoDB for the product catalogue.", "The audit log moved from MongoDB to ClickHouse."),
    ("The backend runs on Node 20.", "The docs site is no longer built with Node, it is plain Hugo."),
    ("We use feature flags from LaunchDarkly.", "The mobile team stopped using LaunchDarkly."),
    ("Passwords are hashed with argon2.", "API keys aren't hashed with argon2 any more, SHA-256 is enough."),
    ("We use RabbitMQ for background jobs.", "The RabbitMQ management plugin was removed for security reasons."),
    ("We deploy with Helm.", "We dropped the Helm chart for the old admin."),
    ("All services log JSON to stdout.", "The legacy importer no longer logs JSON."),
    ("We use Tailwind for the storefront.", "The admin moved from Tailwind to plain CSS modules."),
    ("The cache TTL is 10 minutes.", "The cache TTL for prices is 1 minute."),
    ("The API rate limit is 100 requests per minute.", "The rate limit for partners is 1000 requests per minute."),
    ("We run Python 3.11.", "Python 3.13 comes in March, we will upgrade then."),
    ("We use Postgres 15.", "Postgres will be upgraded to 17 next quarter."),
    ("We use pnpm in the monorepo.", "The docs repo switched from pnpm to npm."),
    ("We use Elasticsearch for the product search.", "We removed the Elasticsearch index for old invoices."),
    ("Sessions are stored in Redis.", "We stopped storing feature flags in Redis."),
    ("We use Vault for secrets.", "We don't use Vault for the CI tokens any more, those are GitHub secrets."),
    ("Wir nutzen PostgreSQL als Hauptdatenbank.",
     "Für die Sessions nutzen wir PostgreSQL nicht mehr, die liegen jetzt in Redis."),
    ("Wir nutzen PostgreSQL für die Bestellungen.", "Das Analytics-Team ist von PostgreSQL auf BigQuery umgestiegen."),
    ("Die API läuft auf Kubernetes.", "Die Batch-Jobs laufen nicht mehr auf Kubernetes, sondern auf AWS Batch."),
    ("Wir deployen mit ArgoCD.", "Die ArgoCD-Benachrichtigungen in Slack haben wir entfernt, zu viel Lärm."),
    ("Für die lokale Entwicklung nehmen wir Docker Compose.",
     "In der CI nutzen wir Docker Compose nicht mehr, da laufen Testcontainers."),
    ("Die gesamte Infrastruktur machen wir mit Terraform.", "Für DNS nutzen wir Terraform nicht mehr, das machen wir von Hand."),
    ("Grafana läuft unter grafana.acme.test.", "Die alten Grafana-Dashboards für Kafka haben wir gelöscht."),
    ("Die Web-App ist in TypeScript geschrieben.", "Der Scripts-Ordner ist nicht mehr TypeScript, sondern Python."),
    ("Das Upload-Limit ist 20 MB.", "Das Upload-Limit für Avatare ist 2 MB."),
    ("Wir nutzen Redis als Cache in der API.", "Aus dem Worker haben wir Redis rausgeworfen, der fragt Postgres ab."),
    ("Unsere Cluster laufen auf EKS 1.29.", "EKS wird im Dezember auf 1.30 aktualisiert."),
    ("Usamos PostgreSQL como base de datos principal.", "Ya no usamos PostgreSQL para las sesiones, ahora están en Redis."),
    ("Usamos PostgreSQL para los pedidos.", "El equipo de analítica pasó de PostgreSQL a BigQuery."),
    ("La API corre en Kubernetes.", "Los trabajos por lotes ya no corren en Kubernetes, corren en AWS Batch."),
    ("Desplegamos con ArgoCD.", "Quitamos las notificaciones de ArgoCD a Slack, hacían demasiado ruido."),
    ("Usamos Docker Compose para el desarrollo local.", "En CI ya no usamos Docker Compose, usamos testcontainers."),
    ("Usamos Terraform para toda la infraestructura.", "Dejamos de usar Terraform para el DNS."),
    ("Grafana está en grafana.acme.test.", "Eliminamos los dashboards viejos de Grafana para Kafka."),
    ("La web está escrita en TypeScript.", "La carpeta de scripts ya no es TypeScript, es Python."),
    ("El límite de subida es de 20 MB.", "El límite de subida para avatares es de 2 MB."),
    ("Usamos Redis como caché en la API.", "Sacamos Redis del worker; ahora consulta Postgres."),
    ("Nuestros clústeres corren en EKS 1.29.", "EKS se actualiza a 1.30 en diciembre."),
    ("We use Datadog for monitoring.", "The Datadog agent was removed from the build machines."),
    ("We use Datadog for monitoring.", "We cancelled the Datadog log ingestion, it cost too much."),
    ("Auth is handled by Keycloak.", "We got rid of the Keycloak theme for partners."),
    ("Our API is REST.", "The mobile BFF isn't REST any more, it's GraphQL."),
    ("We host everything on AWS.", "The marketing site was moved from AWS to Netlify."),
    ("We store images in S3.", "Backups are no longer in S3, they go to Backblaze."),
    ("We store images in S3.", "We no longer keep backups in S3."),
    ("Use black for formatting.", "We dropped black in the notebooks folder."),
    ("Use ESLint in all packages.", "packages/legacy no longer runs ESLint."),
    ("Prisma is our ORM.", "We removed the Prisma middleware for soft deletes."),
    ("We send mail with SendGrid.", "The invoices no longer go out via SendGrid, the ERP mails them."),
    ("We use Playwright for end-to-end tests.", "We deleted the Playwright tests for the old checkout."),
    ("We use Slack for alerts.", "Deploy messages don't go to Slack any more, only to email."),
    ("The frontend uses Redux.", "The settings page no longer uses Redux, just local state."),
    ("We use Airflow for ETL.", "The nightly report was taken off Airflow, it's a cron job."),
    ("We use nginx as the ingress.", "The internal tools moved from nginx to Caddy."),
    ("Customers pay through Stripe.", "The B2B shop switched from Stripe to invoices."),
    ("We use Confluence for documentation.", "The platform team left Confluence for Notion."),
    ("We use gRPC between services.", "Between the gateway and billing we no longer use gRPC."),
    ("Node 20 is required.", "We removed the Node 18 job from the CI matrix."),
    ("We use Flyway for migrations.", "Flyway was removed from the reporting service."),
    ("Secrets live in Vault.", "The database password for dev isn't in Vault any more."),
    ("We use Kafka for events.", "The Kafka topic for audit logs was deleted."),
    ("We use Kafka for events.", "We swapped the Kafka client library in the gateway."),
    ("The default page size is 50.", "The page size for exports is 500."),
    ("Sessions expire after 30 minutes.", "Sessions for admins expire after 5 minutes."),
    ("Retries are limited to 3.", "Retries for webhooks are limited to 10."),
    ("The timeout is 30 seconds.", "The timeout for uploads is 120 seconds."),
    ("We run MySQL 8.0.", "MySQL will be upgraded to 8.4 next month."),
    ("Wir nutzen Sentry fürs Fehlertracking.", "Im Worker nutzen wir Sentry nicht mehr."),
    ("Wir nutzen GitLab CI.", "Das Doku-Repo nutzt GitLab CI nicht mehr."),
    ("Das Frontend nutzt Redux.", "Die Einstellungsseite nutzt Redux nicht mehr."),
    ("Wir hosten alles bei Hetzner.", "Die Marketing-Seite haben wir von Hetzner zu Netlify umgezogen."),
    ("Wir speichern Bilder in S3.", "Die Backups liegen nicht mehr in S3."),
    ("Wir nutzen Kafka für Events.", "Das Kafka-Topic für Audit-Logs haben wir gelöscht."),
    ("Wir nutzen Stripe für Zahlungen.", "Der B2B-Shop ist von Stripe auf Rechnung umgestiegen."),
    ("Das Timeout ist 30 Sekunden.", "Das Timeout für Uploads ist 120 Sekunden."),
    ("Wir nutzen Jira.", "Das Design-Team nutzt Jira nicht mehr."),
    ("Wir nutzen MySQL 8.0.", "MySQL wird nächsten Monat auf 8.4 aktualisiert."),
    ("Die Tests laufen mit Jest.", "In apps/admin haben wir Jest durch Vitest ersetzt."),
    ("Usamos Sentry para los errores.", "En el worker ya no usamos Sentry."),
    ("Usamos GitLab CI.", "El repo de documentación ya no usa GitLab CI."),
    ("El frontend usa Redux.", "La página de ajustes ya no usa Redux."),
    ("Guardamos las imágenes en S3.", "Las copias de seguridad ya no están en S3."),
    ("Usamos Kafka para los eventos.", "Borramos el topic de Kafka para auditoría."),
    ("Usamos Stripe para los pagos.", "La tienda B2B pasó de Stripe a facturas."),
    ("El timeout es de 30 segundos.", "El timeout para las subidas es de 120 segundos."),
    ("Usamos Jira.", "El equipo de diseño ya no usa Jira."),
    ("Usamos MySQL 8.0.", "MySQL se actualizará a 8.4 el próximo mes."),
    ("Los tests corren con Jest.", "En apps/admin sustituimos Jest por Vitest."),
    ("We use Redis for sessions.", "Redis isn't used in the worker any more."),
    ("Wir nutzen Redis für Sessions.", "Wir haben Redis im Worker durch Valkey ersetzt."),
    ("Usamos Redis para las sesiones.", "Redis ya no se usa en el worker."),
    ("The main ingress is nginx.", "We switched the ingress of the docs site from nginx to Traefik."),
    ("Reports are sent on Mondays.", "Bounced mails are discarded after 3 days."),
]  # fmt: skip

ENDED = [
    ("We use PostgreSQL for orders.", "We no longer use PostgreSQL for orders."),
    ("We use PostgreSQL for orders.", "We moved off PostgreSQL."),
    ("We use PostgreSQL for orders.", "Orders moved from PostgreSQL to MySQL."),
    ("We use PostgreSQL for orders.", "PostgreSQL is gone, everything is MySQL now."),
    ("We use PostgreSQL as the main database.", "We replaced PostgreSQL with MySQL."),
    ("We use PostgreSQL as the main database.", "We migrated the database from PostgreSQL to CockroachDB."),
    ("We use PostgreSQL as the main database.", "We no longer use PostgreSQL, it's all MySQL now."),
    ("We use ArgoCD for deployments.", "We dropped ArgoCD, deployments go through Flux now."),
    ("We use ArgoCD for deployments.", "We removed ArgoCD."),
    ("Grafana is at grafana.acme.test.", "Grafana moved to metrics.acme.test."),
    ("Terraform state is in the S3 bucket acme-tf-state.", "We moved the Terraform state from S3 to GCS."),
    ("For search we went with Meilisearch instead of Elasticsearch.", "We dropped Meilisearch, search runs on Typesense now."),
    ("We use Jest for the unit tests.", "We replaced Jest with Vitest."),
    ("We use Jest in apps/web.", "We replaced Jest with Vitest in apps/web."),
    ("We use Redis for caching in the API.", "We removed Redis from the API; it caches in memory now."),
    ("We use Redis for caching in the API.", "We no longer use Redis for caching."),
    ("The web app is written in TypeScript.", "The web app isn't TypeScript any more, it's Elm."),
    ("Use Docker Compose for local development.", "For local development we no longer use Docker Compose, we use devcontainers."),
    ("Use Terraform for all infrastructure.", "We stopped using Terraform; everything is Pulumi now."),
    ("Use Terraform for all infrastructure.", "We moved all infrastructure from Terraform to Pulumi."),
    ("The API runs on Kubernetes in eu-west-1.", "The API doesn't run on Kubernetes any more, it's on Cloud Run."),
    ("The API runs on Kubernetes in eu-west-1.", "We moved the API off Kubernetes to plain VMs."),
    ("The timeout for the payments API is 10 seconds.", "We raised the timeout for the payments API to 30 seconds."),
    ("Max upload size is 20 MB.", "We raised the max upload size to 50 MB."),
    ("Max upload size for avatars is 2 MB.", "Max upload size for avatars is 5 MB now."),
    ("Our clusters run on EKS 1.29.", "We upgraded the clusters to EKS 1.30."),
    ("Our clusters run on EKS 1.29.", "EKS is on 1.30 since yesterday."),
    ("We use Kafka for order events.", "We ripped out Kafka, order events go through SQS."),
    ("We use Sentry for error tracking.", "Sentry is out, errors go to GlitchTip now."),
    ("We use GitHub Actions for CI.", "We moved CI from GitHub Actions to Buildkite."),
    ("We use MongoDB for the product catalogue.", "The product catalogue moved from MongoDB to Postgres."),
    ("Passwords are hashed with argon2.", "Passwords aren't hashed with argon2 any more, we use bcrypt."),
    ("We use Tailwind for the storefront.", "The storefront moved from Tailwind to CSS modules."),
    ("Sessions are stored in Redis.", "We stopped storing sessions in Redis, they are in Postgres."),
    ("We use Vault for secrets.", "We don't use Vault any more, secrets are in SOPS."),
    ("We use pnpm in the monorepo.", "The monorepo switched from pnpm to bun."),
    ("The cache TTL is 10 minutes.", "The cache TTL is 1 minute now."),
    ("We use Celery for background jobs.", "Celery was too heavy for us, we use RQ now."),
    ("We use yarn.", "We swapped yarn for pnpm."),
    ("We use Heroku for hosting.", "We left Heroku for Fly.io because of the costs."),
    ("Wir nutzen Redis für Sessions.", "Wir nutzen Redis nicht mehr für Sessions."),
    ("Wir nutzen Redis für Sessions.", "Redis ist raus, Sessions liegen jetzt in Postgres."),
    ("Wir nutzen PostgreSQL als Hauptdatenbank.", "Wir sind von PostgreSQL auf MySQL umgestiegen."),
    ("Die API läuft auf Kubernetes.", "Die API läuft nicht mehr auf Kubernetes, sondern auf Nomad."),
    ("Wir deployen mit ArgoCD.", "Wir deployen nicht mehr mit ArgoCD, sondern mit Flux."),
    ("Das Upload-Limit ist 20 MB.", "Das Upload-Limit ist jetzt 50 MB."),
    ("Unsere Cluster laufen auf EKS 1.29.", "Die Cluster laufen jetzt auf EKS 1.30."),
    ("Usamos Redis para las sesiones.", "Ya no usamos Redis para las sesiones."),
    ("Usamos Redis para las sesiones.", "Quitamos Redis, las sesiones están en Postgres."),
    ("Usamos PostgreSQL como base de datos principal.", "Pasamos de PostgreSQL a MySQL."),
    ("La API corre en Kubernetes.", "La API ya no corre en Kubernetes, corre en Nomad."),
    ("Desplegamos con ArgoCD.", "Ya no desplegamos con ArgoCD, usamos Flux."),
    ("El límite de subida es de 20 MB.", "El límite de subida es ahora de 50 MB."),
    ("Usamos Terraform para toda la infraestructura.", "Dejamos de usar Terraform, ahora todo es Pulumi."),
    ("We use Datadog for monitoring.", "We cancelled Datadog, monitoring is Prometheus now."),
    ("We use Datadog for monitoring.", "Datadog is history."),
    ("Auth is handled by Keycloak.", "We replaced Keycloak with Auth0."),
    ("Auth is handled by Keycloak.", "Auth is no longer handled by Keycloak."),
    ("We write services in Go.", "We rewrote the services from Go to Rust."),
    ("Our API is REST.", "Our API isn't REST any more, it's GraphQL."),
    ("We host everything on AWS.", "We moved everything from AWS to Hetzner."),
    ("We host everything on AWS.", "We left AWS for Hetzner."),
    ("We store images in S3.", "Images are no longer in S3, they are in MinIO."),
    ("Use black for formatting.", "We dropped black for ruff format."),
    ("Use black for formatting.", "We stopped using black in favour of ruff."),
    ("Use ESLint in all packages.", "We no longer use ESLint, it's Biome now."),
    ("Prisma is our ORM.", "We ripped out Prisma, Drizzle is the ORM now."),
    ("We send mail with SendGrid.", "We moved our mail from SendGrid to Postmark."),
    ("We use Playwright for end-to-end tests.", "The end-to-end tests moved from Playwright to Cypress."),
    ("We use Slack for alerts.", "Alerts don't go to Slack any more, they go to PagerDuty."),
    ("The frontend uses Redux.", "We removed Redux from the frontend."),
    ("The frontend uses Redux.", "The frontend no longer uses Redux."),
    ("We use Airflow for ETL.", "We took ETL off Airflow, it runs on Dagster now."),
    ("We use nginx as the ingress.", "The ingress moved from nginx to Traefik."),
    ("We use Confluence for documentation.", "Confluence is gone, the documentation is in Notion."),
    ("We use gRPC between services.", "We no longer use gRPC between services."),
    ("We use Flyway for migrations.", "Flyway was replaced by Liquibase."),
    ("We use Kafka for events.", "We migrated from Kafka to NATS for cost reasons."),
    ("We use Kafka for events.", "We removed the Kafka cluster."),
    ("The default page size is 50.", "The default page size is 100 now."),
    ("Sessions expire after 30 minutes.", "Sessions expire after 60 minutes now."),
    ("The timeout is 30 seconds.", "We raised the timeout to 60 seconds."),
    ("We run MySQL 8.0.", "We run MySQL 8.4 now."),
    ("We run MySQL 8.0.", "MySQL was upgraded to 8.4 last week."),
    ("We use Jira.", "We no longer use Jira, we use Linear."),
    ("We use PostgreSQL.", "We don't use PostgreSQL in this project any more."),
    ("Wir nutzen Sentry fürs Fehlertracking.", "Wir nutzen Sentry nicht mehr, sondern GlitchTip."),
    ("Wir nutzen GitLab CI.", "Wir sind von GitLab CI auf GitHub Actions umgestiegen."),
    ("Das Frontend nutzt Redux.", "Das Frontend nutzt Redux nicht mehr."),
    ("Wir hosten alles bei Hetzner.", "Wir sind von Hetzner zu AWS umgezogen."),
    ("Wir speichern Bilder in S3.", "Die Bilder liegen nicht mehr in S3, sondern in MinIO."),
    ("Wir nutzen Kafka für Events.", "Kafka haben wir rausgeworfen, Events laufen über NATS."),
    ("Das Timeout ist 30 Sekunden.", "Das Timeout ist jetzt 60 Sekunden."),
    ("Wir nutzen Jira.", "Jira nutzen wir nicht mehr, wir sind jetzt bei Linear."),
    ("Die Tests laufen mit Jest.", "Wir haben Jest durch Vitest ersetzt."),
    ("Usamos Sentry para los errores.", "Ya no usamos Sentry, ahora usamos GlitchTip."),
    ("Usamos GitLab CI.", "Pasamos de GitLab CI a GitHub Actions."),
    ("El frontend usa Redux.", "El frontend ya no usa Redux."),
    ("Guardamos las imágenes en S3.", "Las imágenes ya no están en S3, están en MinIO."),
    ("Usamos Kafka para los eventos.", "Quitamos Kafka, los eventos van por NATS."),
    ("El timeout es de 30 segundos.", "El timeout es ahora de 60 segundos."),
    ("Usamos Jira.", "Ya no usamos Jira, ahora Linear."),
    ("Los tests corren con Jest.", "Sustituimos Jest por Vitest."),
    ("Raw events are kept for 90 days.", "Raw events are deleted after 30 days now."),
    ("We use Redis for sessions.", "We dropped Redis in version 3, sessions are in Postgres."),
    ("We use Jest for the unit tests.", "We replaced Jest with Vitest for performance reasons."),
    ("We use ArgoCD for deployments.", "We dropped ArgoCD from our pipeline."),
    ("Usamos MySQL 8.0.", "MySQL se actualizó a 8.4 en marzo."),
    ("Wir nutzen MySQL 8.0.", "MySQL wurde im März auf 8.4 aktualisiert."),
    ("We use Redis for sessions.", "We no longer use Redis for the user sessions."),
    ("We use Kafka for events.", "We got rid of Kafka."),
    ("The API runs on Kubernetes.", "In production the API no longer runs on Kubernetes."),
]  # fmt: skip


def told(older: str, newer: str, kinds: str = "decision decision") -> str:
    old, new = kinds.split()
    return judge(know("n", newer, new, 2), know("o", older, old, 1), LIKENESS).said


def apart(older: str, newer: str, kind: str = "decision") -> bool:
    return speaks_of_another(Sides(know("n", newer, kind, 2), know("o", older, kind, 1), LIKENESS))


@pytest.mark.parametrize(("older", "newer"), APART)
def test_what_ends_elsewhere_replaces_nothing_whatever_kind_both_are_of(older: str, newer: str) -> None:
    assert {kinds for kinds in KINDS if told(older, newer, kinds) == "supersedes"} == set()


@pytest.mark.parametrize(("older", "newer"), APART)
def test_no_weight_makes_it_replace_the_other(monkeypatch: pytest.MonkeyPatch, older: str, newer: str) -> None:
    monkeypatch.setattr(relating, "weighed", lambda marks: {name: 9.0 * (name == "supersedes") for name in relating.RELATIONS})
    assert told(older, newer) == ""


@pytest.mark.parametrize(("older", "newer"), ENDED)
def test_what_ends_as_a_whole_or_where_the_older_one_speaks_of_it_replaces_it(older: str, newer: str) -> None:
    assert not apart(older, newer)
    assert told(older, newer) == "supersedes"


def test_a_step_that_is_gone_changes_the_procedure_it_was_part_of() -> None:
    older = "staging deploy is: make image, bump the tag, push, then argocd app sync router"
    newer = "we dropped the argocd sync step, a push is enough now"
    assert told(older, newer, "procedure decision") == "supersedes"


@pytest.mark.parametrize(
    "piece", ["in ", "Redis for ", "we dropped Redis from ", "Redis, ", "no longer ", "a THING NOT USE OTHER ", "\x00"]
)
def test_a_text_of_one_piece_again_and_again_is_looked_at_to_its_end(piece: str) -> None:
    assert told("We use Redis for sessions.", piece * (2_000 // len(piece))) in ("", "supersedes", "contradicts", "reinforces")
