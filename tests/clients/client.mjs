// node-pg: what the test asks for is told as one line of JSON for each step.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import fs from "node:fs";
import process from "node:process";

const wanted = JSON.parse(process.argv[2]);
const require = createRequire(pathToFileURL(wanted.modules + "/"));
const pg = require("pg");
const Cursor = require("pg-cursor");
const QueryStream = require("pg-query-stream");
const { to: copyTo } = require("pg-copy-streams");

const where = {
  host: wanted.host, port: wanted.port, user: wanted.user, password: wanted.password, database: wanted.database,
  ...(wanted.authority ? { ssl: { ca: fs.readFileSync(wanted.authority, "utf8"), servername: "localhost" } } : {}),
};
const told = (name, value) => console.log(JSON.stringify([name, value]));
const client = new pg.Client(where);
const notices = [];
client.on("notice", (notice) => notices.push(notice.message));
await client.connect();

const typed = await client.query(wanted.every_type);
told("names", typed.fields.map((field) => field.name));
told("types", typed.fields.map((field) => field.dataTypeID));
told("rows", typed.rows);

const parameters = await client.query({ text: wanted.parameters, values: ["hdl", -7300, 250.5], rowMode: "array" });
told("parameters", Number(parameters.rows[0][0]));
const named = { name: "named", text: wanted.named };
told("named", [await client.query({ ...named, values: [0] }), await client.query({ ...named, values: [60] })]
  .map((result) => Number(result.rows[0].n)));
const binary = await client.query({ text: wanted.binary, values: [], binary: true });
told("binary", Number(binary.rows[0].n));

const cursor = client.query(new Cursor(wanted.cursor));
const parts = [];
for (let rows = await cursor.read(3); rows.length; rows = await cursor.read(3)) parts.push(rows.map((row) => row.test));
await cursor.close();
told("cursor", parts);

const streamed = [];
for await (const row of client.query(new QueryStream(wanted.stream, [], { batchSize: 1 }))) streamed.push(row.test);
told("stream", streamed);

let copied = "";
for await (const chunk of client.query(copyTo(`COPY (${wanted.copy}) TO STDOUT WITH CSV`))) copied += chunk;
told("copy", copied.trim().split("\n").map((line) => line.split(",")[0]));

await client.query("BEGIN");
try {
  await client.query("SELECT AVG(bmy) FROM patients");
} catch (error) {
  told("error", { code: error.code, message: error.message, position: error.position, hint: error.hint ?? null });
}
try {
  await client.query("SELECT 1");
} catch (error) {
  told("aborted", error.code);
}
await client.query("ROLLBACK");

const tables = await client.query(
  "SELECT table_name FROM information_schema.tables WHERE table_schema = $1 ORDER BY table_name", ["public"]);
told("tables", tables.rows.map((row) => row.table_name));
told("notices", notices);
await client.end();

const pool = new pg.Pool({ ...where, max: 4 });
const answers = await Promise.all(Array.from({ length: 8 }, () => pool.query(wanted.pooled)));
told("pool", [...new Set(answers.map((answer) => answer.rows[0].n))]);
await pool.end();

try {
  await new pg.Client({ ...where, password: "wrong" }).connect();
} catch (error) {
  told("password", error.code);
}
