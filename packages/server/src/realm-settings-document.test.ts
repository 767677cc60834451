import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { REALM_PERMISSIONS, STORED_REALM_SETTINGS } from '@parley/domain/realms';

const root = resolve(__dirname, '../../..');
const document = readFileSync(resolve(root, 'docs/realm-settings.md'), 'utf8');
const rows = [...document.matchAll(/^\| `(\w+)` +\| (.+?) +\|$/gm)].map(
  ([, name, reader]) => [name!, reader!] as const,
);

describe('docs/realm-settings.md', () => {
  it('has a row for each setting and permission', () => {
    const names = [...Object.keys(STORED_REALM_SETTINGS), ...Object.keys(REALM_PERMISSIONS)];
    expect(rows.map(([name]) => name).sort()).toEqual(names.sort());
  });

  it.each(rows.filter(([, reader]) => reader.startsWith('`')))('%s is read by %s', (name, reader) => {
    for (const [, path] of reader.matchAll(/`([^`]+)`/g)) {
      const file = resolve(root, 'packages/domain/src', path!);
      expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });
});
