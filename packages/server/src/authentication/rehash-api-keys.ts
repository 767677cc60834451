import type { ApiKeyMint } from '@parley/domain/access';
import type { UnitOfWork } from '@parley/domain/kernel';
import { StartupError } from '../startup-error.js';

/**
 * Stores every key's fingerprint anew when the server's secret is another one than last time. Everybody's key is
 * another one then. Returns how many there were; 0 when the secret is the same.
 */
export async function rehashApiKeys(uow: UnitOfWork, mint: ApiKeyMint): Promise<number> {
  const stored = await uow.read(({ apiKeys }) => apiKeys.secretFingerprint());
  if (stored === mint.secretFingerprint) return 0;
  return uow.write(async (tx) => {
    const { apiKeys } = tx;
    const records = await apiKeys.listAll();
    for (const record of records) {
      await apiKeys.put(record, mint.fingerprint(mint.derive(record)));
      await tx.yield();
    }
    await apiKeys.setSecretFingerprint(mint.secretFingerprint);
    return records.length;
  });
}

/** For whoever works beside a running server, whose keys must stay as they are. @throws StartupError */
export async function assertSameSecret(uow: UnitOfWork, mint: ApiKeyMint): Promise<void> {
  const stored = await uow.read(({ apiKeys }) => apiKeys.secretFingerprint());
  if (stored === null) await uow.write(({ apiKeys }) => apiKeys.setSecretFingerprint(mint.secretFingerprint));
  else if (stored !== mint.secretFingerprint) {
    throw new StartupError('The database was made with another secret meanwhile; start again with that one.');
  }
}
