import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inspectPostgres } from './database.js';
import { createDatabase } from './testing/databases.js';
import { findBinaries } from './testing/server.js';

const DOCUMENT = join(__dirname, '../../../../docs/cluster.md');

it('the documented commands restore a dump into a new database', async () => {
  const [, commands] = /```sh\n(pg_dump [^`]*)```/.exec(readFileSync(DOCUMENT, 'utf8'))!;
  const database = await createDatabase();
  await database.run("INSERT INTO server_fact (name, value) VALUES ('test', 'kept'), ('installation', 'original')");
  const name = `${database.name}_restored`;
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const folder = mkdtempSync('/tmp/parley-restore-');
  const script = commands!
    .replaceAll('postgres://parley@db.example.com/restored', `'${url.href}'`)
    .replaceAll(/ restored\b/g, ` ${name}`);
  const environment = {
    PATH: `${findBinaries()}:${process.env.PATH}`,
    PARLEY_DATABASE: database.url,
    PGHOST: url.searchParams.get('host')!,
    PGUSER: 'parley',
    PGDATABASE: 'postgres',
  };
  execFileSync('sh', ['-euc', script], { cwd: folder, env: environment, stdio: 'pipe' });
  const { installation, ...original } = await inspectPostgres(database.url);
  expect(await inspectPostgres(url.href)).toEqual({
    ...original,
    installation: { ...installation, place: expect.not.stringMatching(`^${installation!.place}$`) },
  });
  expect(installation).toMatchObject({ id: 'original', formerPlace: null });
  const [, statements] = /```sql\n(DELETE [^`]*)```/.exec(readFileSync(DOCUMENT, 'utf8'))!;
  await database.run(statements!);
  await database.run(`DROP DATABASE ${name}`);
  await database.drop();
  rmSync(folder, { recursive: true });
});
