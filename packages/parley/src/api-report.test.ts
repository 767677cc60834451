import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

it('public types are those of the reports in packages/parley/api', () => {
  const script = join(import.meta.dirname, '../scripts/api-report.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
