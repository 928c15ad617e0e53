"""Some 300 turns in many languages and notations, and questions to ask of them: what both engines must answer alike."""

from __future__ import annotations

import random
import unicodedata

from hindbrain.capture.event import Event
from tests.ledger.making import event

TALK = [
    "The migration failed because of a missing index on the orders table",
    "Indexes were added, the migrations ran, and the ordering is stable now",
    "We decided to use PostgreSQL for the shop and SQLite on every laptop",
    "Please never commit to main directly; open a pull request instead",
    "The login test is flaky: it sometimes fails on CI with a timeout of 30 seconds",
    "Why does the connection pool run dry? Each request holds its connection too long.",
    "I ran the benchmarks again: 12,500 req/s before, 48.3k req/s after, p95 = 17.25 ms",
    "don't won't can't it's we're — contractions and “typographic” quotes",
    "A naïve café résumé, the coöperation of façade and Zürich, piñata",
    "running runner runs ran run; generalization generalized generally general",
    "Le déploiement a échoué parce que la clé d'API était périmée",
    "Où est rangée la sauvegarde de la base de données ?",
    "Die Übergröße der Straße überfordert den Prüfer; Maßnahmen folgen",
    "Das Datenbankverbindungspoolgrößenlimit wurde überschritten",
    "La migración falló por un índice que faltaba; mañana la repetimos",
    "A migração falhou porque faltava um índice; amanhã tentamos de novo",
    "Il test di accesso è instabile, perché la città non è configurata",
    "Миграция не удалась: в таблице заказов нет индекса",
    "Почему тесты падают только на сервере, а не у меня?",
    "Η μετεγκατάσταση απέτυχε επειδή έλειπε ένα ευρετήριο",
    "データベースの移行に失敗しました。索引がありません。",
    "テストは毎回タイムアウトします",
    "数据库迁移失败，因为缺少索引。请重试。",
    "데이터베이스 마이그레이션이 실패했습니다. 인덱스가 없습니다.",
    "فشل ترحيل قاعدة البيانات بسبب فهرس مفقود",
    "العَرَبِيَّةُ مع التشكيل",
    "העברת מסד הנתונים נכשלה כי חסר אינדקס",
    "डेटाबेस माइग्रेशन विफल रहा क्योंकि इंडेक्स गायब था",
    "การย้ายฐานข้อมูลล้มเหลวเพราะไม่มีดัชนี",
    "Di chuyển cơ sở dữ liệu thất bại vì thiếu chỉ mục",
    "İstanbul'daki sunucu ışık hızında çalışıyor, ılık değil",
    "Łódź, Gdańsk i Kraków: żółta gęś jaźń",
    "Přílíš žluťoučký kůň úpěl ďábelské ódy",
    "მონაცემთა ბაზის მიგრაცია ვერ მოხერხდა",
    "Տվյալների բազայի տեղափոխումը ձախողվեց",
    "የውሂብ ጎታ ፍልሰት አልተሳካም",
    "🎉 Shipped! 🚀 The release is out 👩‍👩‍👧‍👦 thanks everyone 🇩🇪",
    "emoji glued to words: fix🐛bug, done✅, 100%",
    "ﬁne ligatures ﬂow; full width ＡＢＣ１２３; superscript x² and ½, roman Ⅳ",
    "math: 𝐛𝐨𝐥𝐝 𝔣𝔯𝔞𝔨𝔱𝔲𝔯 ∑∫√ α²+β²=γ²",
]
CODE = [
    "def parse_header(line: str) -> tuple[str, int]:\n    name, _, size = line.partition(':')\n    return name, int(size)",
    "SELECT o.id, count(*) FROM orders o JOIN items i ON i.order_id = o.id WHERE o.created_at > now() - interval '7 days'",
    "src/hindbrain/ledger/store.py:140: error: Incompatible return value type [return-value]",
    "/home/user/projects/web-shop/node_modules/@types/react/index.d.ts",
    "C:\\Users\\me\\AppData\\Local\\Temp\\build_42.log",
    "git rebase --onto origin/main HEAD~3 && git push --force-with-lease",
    "Traceback (most recent call last):\n  File \"app.py\", line 3, in <module>\nKeyError: 'user_id'",
    "const userId = await getUserById(req.params.user_id); // TODO: camelCase vs snake_case",
    "https://example.org/a/b?q=1&page=2#section-3 and mail to someone@example.org",
    "v1.2.3-rc.4+build.5 supersedes v1.2.2; see RFC 9110 section 15.5.5",
    "0xDEADBEEF 1e-9 3.14159 1_000_000 2026-01-31T23:59:59.999Z 192.168.0.1 ::1",
    "uuid 550e8400-e29b-41d4-a716-446655440000 sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "{\"level\": \"warn\", \"msg\": \"retrying\", \"attempt\": 3, \"user_id\": 77, \"path\": \"/api/v2/orders\"}",
    "docker run --rm -it -v $(pwd):/app -e NODE_ENV=test image:latest make test-fast",
    "AND OR NOT NEAR(a b, 3) ^text: \"quoted\" * - + {text near}: '; DROP TABLE turns; --",
    "<div class=\"card\" onclick='x()'>&nbsp;&lt;b&gt;</div>",
    "np.linalg.norm(x - y, axis=-1) ** 2 / (2 * sigma**2)",
    "id_user is not user_id, and the case of a snake is no snake_case; this id, user, is not yours",
    "fn main() -> Result<(), Box<dyn std::error::Error>> { Ok(()) }",
]
ODD = [
    "", " ", "\n\t\n", "?!.,;:-_", "a", "I", "1", "é", "日", "the the the the the the the the", "not to be or to be",
    "\x07bell \x7fdel \u200bzero\u200cwidth\u200d joiner \ufeff mark \u00adsoft", "\ufffd replacement \ufffd",
    "nul\x00inside",
    "e\u0301 decomposed a\u030a o\u0308", "\ue000private use\uf8ff",
    "\U0001f9ff\U00020000\U0002a6d6 rare ideographs", "\u0345\u0300",
    "x" * 300, "ü" * 400, "z" * 40_000, "é" * 20_000, "word " * 3_000, "alpha beta " * 50 + "gamma",
    " ".join(f"number{n}" for n in range(900)), "Ａ" * 260, "ß" * 251, "q" * 250, "q" * 251,
]  # fmt: skip

_QUESTIONS = [
    *TALK, *CODE, "migration", "migrations", "MIGRATING", "index", "Indexes missing", "why did the migration fail", "database",
    "which database do we use", "shop", "connection pool", "flaky login test", "timeout 30 seconds", "never commit to main",
    "run", "runs runner running ran", "general generally", "cafe", "café", "CAFÉ", "cafe\u0301", "resume résumé",
    "zurich", "pinata",
    "uber straße", "strasse", "prüfer", "echoue", "où", "manana", "índice indice", "индекс", "ИНДЕКС заказов",
    "тесты", "ευρετηριο",
    "索引", "テスト", "数据库迁移失败", "인덱스", "فهرس", "العربية", "אינדקס", "इंडेक्स", "ดัชนี", "dữ liệu", "istanbul", "ışık isik",
    "łódź lodz", "zluty kun", "kůň", "ბაზის", "ձախողվեց", "ፍልሰት", "🎉", "🚀 release", "fix🐛bug", "fine flow", "ﬁne",
    "ＡＢＣ１２３",
    "abc123", "x²", "½ Ⅳ", "𝐛𝐨𝐥𝐝", "user_id", "user_id order_id", "getUserById", "snake_case", "store.py",
    "src/hindbrain/ledger",
    "192.168.0.1", "1e-9", "3.14", "2026-01-31", "550e8400-e29b-41d4-a716-446655440000", "v1.2.3-rc.4",
    "app.py line 3", "NODE_ENV",
    "the", "the and of to", "to be or not to be", "it's we're don't", "what is it", "a", "i", "1", "é", "日",
    "日 é a 1", "not",
    "AND", "OR NOT NEAR", "NEAR(migration index, 2)", "migration AND index", "\"missing index\"", "text: migration",
    "{text}: index",
    "^migration", "migr*", "-index +migration", "(((", "'; DROP TABLE turns; --", "\" OR 1=1 --",
    "%s ? :name $1 ?1 %(x)s", "\\", "''",
    "", " ", "?!,;", "\x00", "\ud800 lone", "\u202emigration", "migration\u200bindex", "soft\u00adhyphen", "\ufffd",
    "\ue000private",
    "\U00020000", "\u0345\u0300", "e\u0301 a\u030a", "x" * 300, "ü" * 400, "z" * 40_000, "q" * 250, "q" * 251, "é" * 20_000,
    "word", "alpha beta gamma", "number7 number8 number9", "nothinglikeit", "nothinglikeit migration", "migration " * 500,
    " ".join(f"number{n}" for n in range(0, 900, 7)), "hindbrain", "mañana tentamos перезапуск 索引 index test user_id café",
]  # fmt: skip
QUESTIONS = list(dict.fromkeys(_QUESTIONS))


def turns() -> list[Event]:
    """The corpus: every text, then mixtures of them, in sessions whose turns are each other's neighbours."""
    choose = random.Random(20)
    texts = [*TALK, *CODE, *ODD]
    while len(texts) < 300:
        one, other = choose.sample([*TALK, *CODE], 2)
        cut = one.split()[: choose.randint(1, 8)]
        texts.append(choose.choice([
            f"{one} {other}", " ".join(cut), " ".join(reversed(cut)), one.upper(), unicodedata.normalize("NFD", one),
            f"{cut[0]} " * choose.randint(2, 9) + other, f"{one}\n\n{one}", other.replace(" ", "_"),
        ]))  # fmt: skip
    roles = ["user", "assistant", "user", "assistant", "tool_call", "tool_result"]
    return [
        event(
            session=f"s{number % 23}", key=f"k{number}", at=1_000 + 7 * number, role=roles[number % 6], text=text,
            cwd=f"/p{number % 3}", origin=choose.choice(["hook", "transcript"]),
        )
        for number, text in enumerate(texts)
    ]  # fmt: skip
