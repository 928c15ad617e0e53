"""A text -> the well-known tools it names, each with what it is for.

Two statements may share no word and still be of one choice: who settles on Tailwind leaves CSS Modules. Which tools stand for
each other is known to everybody in the trade and to no table of likeness, so it is written down. Names that are everyday words
as well (go, make, just, next) are left out.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

_FAMILIES: Final = """
    relational: postgres, postgresql, mysql, mariadb, sqlite, mssql, sql server, cockroachdb, cockroach, oracle, duckdb, aurora
    documents: mongodb, mongo, couchdb, dynamodb, firestore, cosmosdb
    local store: core data, coredata, swiftdata, grdb, realm, room, sqldelight, hive, isar, drift
    cache: redis, memcached, valkey, dragonfly, keydb
    broker: rabbitmq, kafka, nats, pulsar, sqs, activemq, redpanda, mqtt, mosquitto, zeromq, pubsub, eventbridge, kinesis
    jobs: celery, rq, sidekiq, good_job, solid_queue, resque, delayed_job, bullmq, dramatiq, huey, arq, cron, apscheduler,
        hangfire, quartz,
        oban, faktory, temporal, horizon
    pipelines: airflow, dagster, prefect, luigi, argo workflows
    warehouse: snowflake, bigquery, redshift, databricks, clickhouse
    search: elasticsearch, opensearch, meilisearch, typesense, solr, algolia
    vectors: pinecone, qdrant, weaviate, pgvector, milvus, chroma, faiss
    page: react, vue, svelte, sveltekit, angular, solidjs, preact, htmx, alpine, alpinejs, jquery, lit, ember, stimulus, livewire
    meta framework: nextjs, next.js, nuxt, remix, gatsby, astro
    styles: tailwind, bootstrap, css modules, styled-components, styled components, emotion, bulma, sass, scss,
        vanilla-extract, material ui,
        mui, chakra, shadcn
    state: redux, zustand, mobx, pinia, vuex, recoil, jotai, riverpod, bloc, getx
    fetching: react query, tanstack query, swr, apollo, axios, ky, fetch, urql, retrofit, ktor, alamofire
    packages: npm, yarn, pnpm, bun
    python packages: pip, poetry, pipenv, uv, conda, mamba, pdm, hatch, pip-tools, rye
    bundler: webpack, vite, rollup, esbuild, parcel, turbopack, rspack
    build: gradle, maven, bazel, ant, sbt, buck, cmake, meson, scons, xmake, ninja
    format: black, prettier, yapf, autopep8, biome, ruff format, gofmt, gofumpt, clang-format, ktlint, rustfmt, dprint
    lint: flake8, pylint, ruff, eslint, biome, oxlint, tslint, rubocop, standardrb, phpstan, psalm, detekt, golangci-lint,
        swiftlint
    types: mypy, pyright, pyre, basedpyright
    python tests: pytest, unittest, nose
    js tests: jest, vitest, mocha, jasmine, ava
    browser tests: cypress, playwright, selenium, puppeteer, testcafe, webdriverio
    php tests: phpunit, pest, codeception
    ruby tests: rspec, minitest
    web framework: django, flask, fastapi, starlette, litestar, express, fastify, nestjs, koa, hono, rails, sinatra, laravel,
        symfony, gin,
        fiber, actix, axum, rocket, spring boot, quarkus, micronaut, phoenix
    orm: sqlalchemy, sequelize, prisma, typeorm, drizzle, knex, hibernate, jooq, doctrine, eloquent, gorm, sqlc, peewee,
        tortoise, mikro-orm,
        dapper, entity framework, ef core, sqlx, diesel
    migrations: alembic, flyway, liquibase, goose, golang-migrate, atlas, dbmate
    ci: jenkins, circleci, github actions, gh actions, gitlab ci, travis, buildkite, drone, teamcity, azure pipelines,
        woodpecker, bitrise,
        codemagic, xcode cloud, fastlane
    hosting: heroku, fly.io, render, vercel, netlify, railway, hetzner, digitalocean, linode, ovh, scaleway, cloudflare pages
    cloud: aws, gcp, azure
    orchestration: kubernetes, k8s, nomad, docker swarm, ecs, docker compose, docker-compose, podman, cloud run, fargate
    provisioning: terraform, pulumi, opentofu, cloudformation, cdk, ansible, puppet, saltstack
    delivery: argo cd, argocd, flux, atlantis, spinnaker, helm, kustomize
    copying: ftp, sftp, rsync, scp
    proxy: nginx, caddy, traefik, haproxy, apache, envoy
    errors: sentry, bugsnag, rollbar, honeybadger, crashlytics, glitchtip
    metrics: prometheus, datadog, new relic, influxdb, victoriametrics, graphite, cloudwatch
    logs: loki, splunk, graylog, papertrail, logstash, fluentd, fluent bit, vector
    flags: launchdarkly, unleash, flagsmith, split.io, growthbook, flipper, configcat
    login: auth0, keycloak, cognito, okta, clerk, firebase auth, devise, authentik, supabase auth
    mail: sendgrid, mailgun, postmark, amazon ses, mailchimp, brevo, resend, mandrill
    payments: stripe, paypal, braintree, adyen, mollie, redsys, paddle, klarna
    pages of text: mkdocs, docusaurus, sphinx, hugo, jekyll, vitepress, antora, gitbook, confluence, mdbook, starlight
    tracker: jira, linear, trello, asana, youtrack, redmine, github issues, clickup
    chat: slack, teams, mattermost, discord, rocket.chat, zulip
    code host: github, gitlab, bitbucket, gitea, codeberg, forgejo
    serialisation: protobuf, avro, msgpack, messagepack, flatbuffers, cbor, thrift, capnproto
    api style: rest, graphql, grpc, trpc, soap, websockets, websocket, sse, server-sent events, long polling
    secrets: vault, sops, doppler, 1password, sealed secrets, secrets manager, bitwarden
    maps: leaflet, mapbox, openlayers, google maps, maplibre
    routing: osrm, graphhopper, valhalla, openrouteservice, or-tools, vroom
    charts: chart.js, d3, echarts, recharts, highcharts, plotly, matplotlib, vega, apexcharts, altair, seaborn, bokeh
    mobile: flutter, react native, swiftui, uikit, jetpack compose, ionic, capacitor, expo, xamarin, maui, kotlin multiplatform
    injection: dagger, hilt, koin, guice, swinject
    game engine: unity, unreal, godot, bevy
    dates: moment, dayjs, date-fns, luxon, pendulum, arrow
    frames: pandas, polars, dask, spark, pyspark, modin, vaex
    learning: pytorch, tensorflow, jax, keras, scikit-learn, sklearn, xgboost, lightgbm, catboost
    fitting: scipy, lmfit, emcee, stan, pymc, iminuit, numpyro
    tracking: mlflow, wandb, weights & biases, neptune, comet, tensorboard, aim
    notebooks: jupyter, marimo, colab, quarto
    array files: parquet, csv, hdf5, zarr, feather, netcdf, arrow files, json lines, jsonl, xlsx
    pictures: jpeg, jpg, png, webp, avif, gif, svg, tiff
    identifiers: uuid, uuidv4, uuidv7, ulid, snowflake ids, nanoid, bigint, serial
    hashing: bcrypt, argon2, argon2id, scrypt, pbkdf2
    python cli: click, typer, argparse, docopt
    template: jinja, jinja2, mako, twig, blade, handlebars, mustache, ejs, pug, liquid, smarty
    environment: direnv, nix, asdf, mise, nvm, pyenv, volta, devbox, devcontainer, vagrant
    traces: jaeger, zipkin, tempo, honeycomb, opentelemetry, lightstep, x-ray
    dashboards: grafana, kibana, metabase, superset, looker, tableau, power bi, redash
    object store: s3, gcs, minio, ceph, azure blob, backblaze, b2, r2, wasabi, garage, seaweedfs
    files on a network: nfs, smb, samba, nextcloud, dropbox, google drive, sharepoint, onedrive
    backups: restic, borg, duplicity, velero, pgbackrest, wal-g, barman, litestream
    content network: cloudflare, fastly, akamai, cloudfront, bunny cdn
    private network: wireguard, openvpn, tailscale, zerotier, ipsec
    mesh: istio, linkerd, consul
    editors: vscode, vs code, intellij, pycharm, neovim, vim, emacs, zed, cursor, sublime
    shells: bash, zsh, fish, powershell
    vcs: git, mercurial, svn, subversion, perforce
    licences: mit, apache 2, gpl, gplv3, agpl, lgpl, bsd, mpl
    versions: semver, calver
    merging: squash, squash merge, rebase, merge commit, merge commits, fast-forward
    branching: gitflow, git flow, trunk-based, trunk based
    commit style: conventional commits, gitmoji
    case: snake_case, camelcase, kebab-case, pascalcase, snake case, camel case, kebab case
    indents: tabs, spaces
    ways in: oauth, oauth2, saml, oidc, basic auth, api key, api keys, mtls, magic link, magic links, passkey, passkeys, jwt
    signing: rs256, es256, hs256, eddsa, ed25519
    packing: gzip, zstd, brotli, lz4, snappy, xz, bzip2, deflate
    letters: utf-8, utf8, latin-1, latin1, iso-8859-1, cp1252, utf-16, windows-1252
    spoken: english, german, french, spanish, italian, dutch, portuguese, polish, deutsch, englisch, franzoesisch, spanisch,
        italienisch, italiano, portugues, ingles, aleman, castellano, espanol, frances
    coins: eur, usd, gbp, chf
    parcels: dhl, gls, ups, fedex, dpd, hermes, seur, correos, postnl
    runtimes: nodejs, node.js, deno
    served by: ollama, vllm, llama.cpp, openai, anthropic, openrouter, bedrock
    paper: weasyprint, wkhtmltopdf, reportlab, puppeteer pdf, latex, typst, pandoc
    voice: whisper, deepgram, assemblyai, vosk
    systems on boards: freertos, zephyr, nuttx, yocto, buildroot
    syncing: yjs, automerge, syncthing, electric sql, powersync
    http clients: httpx, aiohttp, curl, libcurl, reqwest, okhttp
    logging: loguru, structlog, pino, winston, log4j, logback, slf4j, zap, zerolog, serilog, tracing crate
    validation: pydantic, zod, yup, joi, valibot, marshmallow, attrs, ajv
    mocks: mockito, mockk, moq, sinon, msw, wiremock, nock, testcontainers
    load: k6, locust, gatling, jmeter, wrk, vegeta
    shop: shopify, woocommerce, magento, medusa, prestashop, saleor
    pages by hand: wordpress, strapi, contentful, sanity, ghost, drupal, directus, typo3
    words on screen: i18next, gettext, fluent, lingui, crowdin, weblate, phrase
    physics: bullet physics, box2d, rapier, physx, jolt
    architecture: monolith, microservices, modular monolith, serverless, event sourcing, cqrs
    repositories: monorepo, polyrepo, submodules, subtree, turborepo, nx
"""


def _listed() -> dict[str, str]:
    found: dict[str, str] = {}
    family = ""
    for line in _FAMILIES.strip().splitlines():
        head, colon, rest = line.partition(":")
        family = head.strip() if colon else family
        found |= {name.strip(): family for name in (rest if colon else line).split(",") if name.strip()}
    return found


FAMILY_OF: Final = _listed()
_NAMES: Final = re.compile(
    r"(?<![\w/.-])(?:" + "|".join(re.escape(name) for name in sorted(FAMILY_OF, key=len, reverse=True)) + r")(?![\w/-]|\.\w)"
)
_SAME: Final = {"postgresql": "postgres", "mongo": "mongodb", "coredata": "core data", "next.js": "nextjs", "k8s": "kubernetes",
                "argocd": "argo cd", "docker-compose": "docker compose", "sklearn": "scikit-learn", "cockroach": "cockroachdb",
                "messagepack": "msgpack", "jinja2": "jinja", "websockets": "websocket", "styled components": "styled-components",
                "gh actions": "github actions", "deutsch": "german", "aleman": "german", "englisch": "english",
                "ingles": "english", "spanisch": "spanish", "espanol": "spanish", "castellano": "spanish",
                "franzoesisch": "french", "frances": "french", "italienisch": "italian", "italiano": "italian",
                "portugues": "portuguese"}  # fmt: skip


@cache
def spellings(name: str) -> frozenset[str]:
    """All ways to write the name of a tool."""
    return frozenset((name, *(other for other, same in _SAME.items() if same == name)))


@lru_cache(16_384)
def tools(plain_text: str) -> frozenset[tuple[str, str]]:
    """The tools that a text in plain letters names: what each is for, and its name."""
    names = {_SAME.get(found.group(), found.group()) for found in _NAMES.finditer(plain_text)}
    return frozenset((FAMILY_OF[name], name) for name in names)
