import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnvFile } from '../configuration/env-file.js';
import { runCommand } from '../testing/run-command.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-company-'));
  for (const name of ['etc/parley', 'var/lib/parley', 'var/lib/parley-backups', 'tmp']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Words of a command line, without its comment. */
const wordsOf = (line: string): readonly string[] =>
  [...line.replace(/ +#.*/, '').matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);

it.each([
  ['club', ['config', 'realm', 'user', 'doctor', 'backup', 'restore']],
  ['company', ['config', 'realm', 'user', 'doctor', 'backup', 'restore', 'migrate']],
])('the commands of the guide for a %s succeed in their order', async (name, expected) => {
  const guide = readFileSync(join(__dirname, `../../../../docs/guides/${name}.md`), 'utf8');
  const local = (text: string) => text.replace(/(?<=^|[ =:])\/(?=(?:etc|var|tmp)\/)/gm, `${folder}/`);
  const blocks = [...guide.matchAll(/^```(sh|json)\n(.*?)^```/gms)].map(([, language, text]) => ({ language, text }));
  const people = join(folder, 'people.csv');
  writeFileSync(people, 'email,name\nbob@example.org,Bob\n');
  let environment: Readonly<Record<string, string>> = {};
  const done: string[] = [];
  for (const { language, text } of blocks) {
    if (language === 'json') {
      const services = join(folder, 'etc/parley/sso.json');
      writeFileSync(services, text!, { mode: 0o600 });
      environment = { ...environment, PARLEY_OPENID_CONNECT_FILE: services };
    } else if (text!.startsWith('PARLEY_')) {
      environment = Object.fromEntries(parseEnvFile(local(text!), 'parley.env'));
    }
    for (const line of text!.split('\n')) {
      const [program, ...words] = wordsOf(local(line.replace('people.csv', people)));
      if (['mv', 'rm'].includes(program!)) execFileSync(program!, words);
      // The mail server and the log-in service are elsewhere.
      if (program !== 'parley' || line.includes('mail test')) continue;
      const { code, err } = await runCommand(
        words.filter((word) => word !== '--thorough'),
        { environment },
      );
      expect([line, code, err]).toEqual([line, 0, '']);
      done.push(words[0]!);
    }
  }
  expect(done).toEqual(expect.arrayContaining(expected));
});
