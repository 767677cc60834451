import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder, packageNames, packagesDir, pathInPackage } from './source-code.js';

const guide = readFileSync(join(packagesDir, '../docs/adding-an-operation.md'), 'utf8');

/** Source code lines of a document without indentation; only the added lines of diffs. */
function codeLines(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^```(ts|sql|diff)\n(.*?)^```/gms)].flatMap(([, language, code]) =>
    code!
      .split('\n')
      .filter((line) => language !== 'diff' || line.startsWith('+'))
      .map((line) => (language === 'diff' ? line.slice(1) : line).trim())
      .filter((line) => line !== '' && !line.includes('…')),
  );
}

const sourceLines = (): ReadonlySet<string> =>
  new Set(
    packageNames()
      .flatMap((name) => filesOf(join(packageFolder(name), 'src')))
      .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
      .map((line) => line.trim()),
  );

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|sql)$/.test(path))
    .map((path) => join(folder, path));

describe('guide to adding an operation', () => {
  it('shows code identical to the sources', () => {
    const known = sourceLines();
    const shown = codeLines(guide);
    expect(shown.length).toBeGreaterThan(25);
    expect(shown.filter((line) => !known.has(line))).toEqual([]);
  });

  it('names only existing files', () => {
    const named = [...guide.matchAll(/`([a-z0-9-]+\/src\/[\w./-]+)`/g)].map(([, path]) => path!);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !existsSync(pathInPackage(path) ?? ''))).toEqual([]);
  });
});

describe('document', () => {
  it.each(['architecture', 'helpers', 'testing', 'tour'])('names only existing files: %s.md', (name) => {
    const text = readFileSync(join(packagesDir, `../docs/${name}.md`), 'utf8');
    const named = [...text.matchAll(/`(?:packages\/(?:[a-z]+\/)?)?([a-z0-9-]+\/src\/[\w./-]+)`/g)].map(
      ([, path]) => path!,
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((path) => !existsSync(pathInPackage(path) ?? ''))).toEqual([]);
  });

  it('follows a request through all checks in their order: tour.md', () => {
    const checks = readFileSync(pathInPackage('http/src/express/checks.ts')!, 'utf8');
    const [, list] = /export const checks = .*?EVERY_PATH,(.*?)\);/s.exec(checks)!;
    const tour = readFileSync(join(packagesDir, '../docs/tour.md'), 'utf8');
    const [, section] = /^## The checks of a request\n(.*?)^## /ms.exec(tour)!;
    const named = [...section!.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(named).toEqual([...list!.matchAll(/\w+/g)].map(([name]) => name));
  });

  it('asks seven questions, each with a file and a test of that title: tour.md', () => {
    const tour = readFileSync(join(packagesDir, '../docs/tour.md'), 'utf8');
    const sections = [...tour.matchAll(/^## ([^\n]+\?)\n(.*?)(?=^## )/gms)];
    const rows = [...tour.matchAll(/^\| \[(.+?)\]\(.*?\) +\| `(.+?)` +\| `(.+?)` +\|$/gm)];
    expect(rows).toHaveLength(7);
    expect(rows.map(([, question]) => question)).toEqual(sections.map(([, question]) => question));
    for (const [index, [, , file, test]] of rows.entries()) {
      const [, , text = ''] = sections[index]!;
      const [, named = '', title = ''] = /^Test: `(.+?)`, “(.+?)”/m.exec(text) ?? [];
      expect(text).toContain(`\`${file}\``);
      expect(named).toBe(test);
      expect(readFileSync(pathInPackage(named)!, 'utf8')).toContain(title);
    }
  });

  it('names each module of the container: architecture.md', () => {
    const text = readFileSync(join(packagesDir, '../docs/architecture.md'), 'utf8');
    const [, table] = /^\| Module of (.*?)\n\n/ms.exec(text)!;
    const named = [...table!.matchAll(/`([\w-]+)`/g)].map(([, name]) => `${name}.ts`);
    expect(named.sort()).toEqual(readdirSync(pathInPackage('server/src/composition/modules')!).sort());
  });
});
