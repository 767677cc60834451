import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createRoutes } from '@parley/http';

const root = resolve(__dirname, '../../..');

/** Calls such as `api.patch('/realm', …)`. */
const CALL = /\.(get|post|put|patch|delete)\(\s*'(\/[^']*)'/g;
const OPERATION = /`(GET|POST|PUT|PATCH|DELETE) (\/[^`]*)`/g;

const textOf = (folder: string): string =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.tsx?$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');

const namesIn = (text: string, pattern: RegExp): ReadonlySet<string> =>
  new Set([...text.matchAll(pattern)].map(([, method, path]) => `${method!.toUpperCase()} ${path}`));

describe('operations and pages of the web client', () => {
  const all = createRoutes({} as Parameters<typeof createRoutes>[0])
    .filter(({ atRoot }) => !atRoot)
    .map(({ method, path }) => `${method} ${path.replace(/[:*](\w+)/g, '{$1}')}`);
  const called = namesIn(textOf('packages/chat/src') + textOf('packages/web/src'), CALL);
  const [, section = ''] = readFileSync(join(root, 'docs/web-client.md'), 'utf8').split(
    '\n## Operations without a page\n',
  );
  const listed = namesIn(section.split('\n## ')[0]!, OPERATION);

  it('has a page for every operation, or a reason in docs/web-client.md', () => {
    expect(all.filter((name) => !called.has(name) && !listed.has(name))).toEqual([]);
  });

  it('lists only operations that exist and that no page calls', () => {
    expect([...listed].filter((name) => called.has(name) || !all.includes(name))).toEqual([]);
  });
});
