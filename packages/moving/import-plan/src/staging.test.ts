import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportRecord } from '@parley/transfer/records';
import { Staging } from './staging.js';

it('holds records up to its maximum size', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-staging-'));
  const recordsOf = async function* (count: number) {
    for (let n = 0; n < count; n++)
      yield {
        ...{ kind: 'message', source: 'crm', id: `m${n}`, channel: 'c', sender: 'ann', sentAt: 1_700_000_000 + n },
        content: 'x'.repeat(2000),
      } as ImportRecord;
  };
  for (const [count, isKept] of [
    [50, true],
    [2000, false],
  ] as const) {
    const staging = new Staging(folder, 1_000_000);
    const adding = staging.addAll(recordsOf(count));
    if (isKept) await adding;
    else await expect(adding).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    staging.close();
  }
  rmSync(folder, { recursive: true });
});
