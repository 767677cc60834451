import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DomainError, declaredErrors, type ErrorCode } from '@parley/domain';
import { wireErrorOf } from '@parley/http';

const document = readFileSync(resolve(__dirname, '../../../docs/errors.md'), 'utf8');
const ROW = /^\| `([A-Z_]+)` *\| (\d+) *\| (\d+ `[A-Z_]+`) *\| (.+?) *\|$/gm;

describe('docs/errors.md', () => {
  const documented = [...document.matchAll(ROW)].map(([, code, status, api]) => `${code}: ${status}, API ${api}`);

  it('has a row for each code, with its statuses and its code in the API', () => {
    const declared = [...declaredErrors().keys()].map((code) => {
      const error = new DomainError(code as ErrorCode, 'text');
      const wire = wireErrorOf(error);
      return `${code}: ${error.status}, API ${wire.status} \`${wire.code}\``;
    });
    expect(declared.length).toBeGreaterThan(100);
    expect([...documented].sort()).toEqual([...declared].sort());
  });
});
