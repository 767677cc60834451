import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(__dirname, '../client-sync');

/** Returns the values that feature files in `client-sync` export under names ending in `suffix`. */
export const exportsOfFeatures = (suffix: '_SCENARIOS'): readonly unknown[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.scenarios.ts'))
    .flatMap((name) => Object.entries(require(join(folder, name)) as Record<string, unknown>))
    .filter(([name]) => name.endsWith(suffix))
    .map(([, value]) => value);
