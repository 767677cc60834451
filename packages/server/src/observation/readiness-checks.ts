import { statfsSync } from 'node:fs';
import type { Ports } from '@parley/domain/composition';
import type { ReadinessCheck } from './readiness.js';
import type { ServerGauges } from './server-gauges.js';

/** Less would be gone before anybody had read of it. */
const LEAST_FREE_BYTES = 64 * 1024 * 1024;

/** `dataFolder`: on the disk that has to have room; null: what is kept is elsewhere. */
export function readinessChecks(
  { unitOfWork, apiKeyMint }: Pick<Ports, 'unitOfWork' | 'apiKeyMint'>,
  gauges: () => Promise<ServerGauges>,
  dataFolder: string | null,
): readonly ReadinessCheck[] {
  const checks: ReadinessCheck[] = [
    {
      name: 'write',
      // What is there already, so that nothing changes; it takes a commit all the same.
      run: () => unitOfWork.write((tx) => tx.apiKeys.setSecretFingerprint(apiKeyMint.secretFingerprint)),
    },
    {
      name: 'schema',
      run: async () => {
        if ((await gauges()).storage?.hasOwnSchema === false) throw new Error('another version has changed it');
      },
    },
  ];
  if (dataFolder !== null) {
    checks.push({
      name: 'disk',
      run: () => {
        const { bavail, bsize } = statfsSync(dataFolder);
        if (bavail * bsize < LEAST_FREE_BYTES) throw new Error(`${bavail * bsize} bytes are free`);
      },
    });
  }
  return checks;
}
