import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DomainError, declaredErrors, type ErrorCode } from '@parley/domain/kernel';
import { ERROR_REPLIES } from '@parley/http';

const packagesDir = resolve(__dirname, '../..');
const document = readFileSync(resolve(__dirname, '../../../docs/errors.md'), 'utf8');

beforeAll(async () => {
  // Importing a feature declares its error codes.
  const entries = readdirSync(join(packagesDir, 'domain/src'), { withFileTypes: true });
  for (const area of entries) if (area.isDirectory()) await import(`@parley/domain/${area.name}`);
});

const ROW = /^\| `([A-Z_]+)` *\| (\d+) *\| (\d+ `[A-Z_]+`) *\| (.+?) *\|$/gm;

/** Row of the document without the text of its last column. */
const rowOf = (code: string, status: string | number, api: string): string => `| \`${code}\` | ${status} | ${api} |`;

describe('docs/errors.md', () => {
  const documented = [...document.matchAll(ROW)].map(([, code, status, api]) => rowOf(code!, status!, api!));

  it('has a row for each error code with its statuses and API code', () => {
    const declared = [...declaredErrors().keys()].map((code) => {
      const error = new DomainError(code as ErrorCode, 'text');
      const wire = ERROR_REPLIES.wireErrorOf(error);
      return rowOf(code, error.status, `${wire.status} \`${wire.code}\``);
    });
    expect(declared.length).toBeGreaterThan(100);
    expect(declared.filter((row) => !documented.includes(row))).toEqual([]);
    expect(documented.filter((row) => !declared.includes(row))).toEqual([]);
  });
});

describe('@throws comment', () => {
  const sources = readdirSync(packagesDir, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /^\w+[\\/]src[\\/].*\.ts$/.test(path) && !path.endsWith('.test.ts'),
  );

  it('names only declared error codes', () => {
    const named = sources.flatMap((path) => {
      const text = readFileSync(join(packagesDir, path), 'utf8');
      const comments = [...text.matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*?@throws DomainError ((?:(?!\*\/)[\s\S])*)/g)];
      return comments.flatMap(([, list = '']) => list.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? []);
    });
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((code) => !declaredErrors().has(code))).toEqual([]);
  });
});
