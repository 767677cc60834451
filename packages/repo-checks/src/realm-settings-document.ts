import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const document = readFileSync(resolve(__dirname, '../../../docs/realm-settings.md'), 'utf8');

/** What docs/realm-settings.md says of each setting and permission: who reads it, as it stands there. */
export const DOCUMENTED_READERS: readonly (readonly [name: string, reader: string])[] = [
  ...document.matchAll(/^\| `(\w+)` +\| (.+?) +\|$/gm),
].map(([, name, reader]) => [name!, reader!]);

/** Those that decide nothing on the server: nobody reads them, or clients alone. */
export const SETTINGS_WITHOUT_READER: readonly string[] = DOCUMENTED_READERS.filter(
  ([, reader]) => !reader.startsWith('`'),
).map(([name]) => name);
