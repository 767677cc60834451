import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { REALM_PERMISSIONS, STORED_REALM_SETTINGS } from '@parley/domain/realms';
import { DOCUMENTED_READERS, SETTINGS_WITHOUT_READER } from './realm-settings-document.js';

const domain = resolve(__dirname, '../../../domain/src');

/** Sources of the domain without tests: path below `src` to content. */
const FILES: ReadonlyMap<string, string> = new Map(
  readdirSync(domain, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => [path, readFileSync(resolve(domain, path), 'utf8')]),
);

describe('docs/realm-settings.md', () => {
  it('has a row for each setting and permission', () => {
    const names = [...Object.keys(STORED_REALM_SETTINGS), ...Object.keys(REALM_PERMISSIONS)];
    expect(DOCUMENTED_READERS.map(([name]) => name).sort()).toEqual(names.sort());
  });

  it.each(DOCUMENTED_READERS.filter(([, reader]) => reader.startsWith('`')))('%s is used by %s', (name, reader) => {
    for (const [, path] of reader.matchAll(/`([^`]+)`/g)) {
      expect(FILES.get(path!)).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });

  it.each(SETTINGS_WITHOUT_READER)('%s is not used by the domain', (name) => {
    const read = new RegExp(
      `(realm|organization)\\.(settings|permissions)\\.${name}\\b|RealmPermission\\([^)]*'${name}'`,
    );
    expect([...FILES].filter(([, text]) => read.test(text)).map(([path]) => path)).toEqual([]);
  });
});
