import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createRoutes, isDocumented } from '@parley/http';

const root = resolve(__dirname, '../../../..');

/** Calls such as `api.patch('/realm', …)`. */
const CALL = /\.(get|post|put|patch|delete)\(\s*'(\/[^']*)'/g;
const textOf = (folder: string): string =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.tsx?$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');

const namesIn = (text: string, pattern: RegExp): ReadonlySet<string> =>
  new Set([...text.matchAll(pattern)].map(([, method, path]) => `${method!.toUpperCase()} ${path}`));

describe('operation below /api/v1', () => {
  const operations = createRoutes({} as Parameters<typeof createRoutes>[0])
    .filter(isDocumented)
    .filter(({ atRoot }) => !atRoot)
    .map(({ method, path, withoutPage }) => ({
      name: `${method} ${path.replace(/[:*](\w+)/g, '{$1}')}`,
      isExempt: withoutPage !== undefined,
    }));
  const called = namesIn(textOf('packages/clients/chat/src') + textOf('packages/clients/web/src'), CALL);

  it('has a page of the web client, or states in its route why not', () => {
    const forgotten = operations.filter(({ name, isExempt }) => !isExempt && !called.has(name));
    expect(
      forgotten.map(
        ({ name }) => `${name}: call it in packages/clients/chat or packages/clients/web, or declare withoutPage`,
      ),
    ).toEqual([]);
  });

  it('states no reason if a page calls it', () => {
    const wrong = operations.filter(({ name, isExempt }) => isExempt && called.has(name));
    expect(wrong.map(({ name }) => `${name}: remove withoutPage`)).toEqual([]);
  });
});
