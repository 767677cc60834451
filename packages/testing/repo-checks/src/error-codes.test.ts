import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { declaredErrors } from '@parley/domain/kernel';
import { packageFolder, packageNames, sourcesOf } from './source-code.js';

const document = readFileSync(resolve(__dirname, '../../../../docs/errors.md'), 'utf8');

beforeAll(async () => {
  // Importing a feature declares its error codes.
  const entries = readdirSync(join(packageFolder('domain'), 'src'), { withFileTypes: true });
  for (const area of entries) if (area.isDirectory()) await import(`@parley/domain/${area.name}`);
});

it('docs/errors.md names each declared error code once', () => {
  const documented = [...document.matchAll(/^\| `([A-Z_]+)` \| \d+ \| /gm)].map(([, code]) => code!);
  expect(documented.length).toBeGreaterThan(100);
  expect(documented.sort()).toEqual([...declaredErrors().keys()].sort());
});

describe('@throws comment', () => {
  const sources = packageNames()
    .flatMap(sourcesOf)
    .filter((path) => !path.endsWith('.test.ts'));

  it('names only declared error codes', () => {
    const named = sources.flatMap((path) => {
      const text = readFileSync(path, 'utf8');
      const comments = [...text.matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*?@throws DomainError ((?:(?!\*\/)[\s\S])*)/g)];
      return comments.flatMap(([, list = '']) => list.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? []);
    });
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((code) => !declaredErrors().has(code))).toEqual([]);
  });
});
