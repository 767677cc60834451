import type { RealmId, UserId } from '@parley/domain/kernel';
import type { AuthenticatorApp, Passkey, SecondFactorRepository, SecondFactors } from '@parley/domain/users';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Keyed by realm and user. */
    readonly authenticatorApps: Map<string, AuthenticatorApp>;
    /** Keyed by realm and id. */
    readonly passkeys: Map<string, Passkey & { readonly realmId: RealmId }>;
    /** Fingerprints by realm and user. */
    readonly recoveryCodes: Map<string, readonly string[]>;
  }
}

export class MemorySecondFactors implements SecondFactorRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, userId: UserId): Promise<SecondFactors> {
    const key = keyOf(realmId, userId);
    return {
      app: this.unit.read('authenticatorApps').get(key) ?? null,
      passkeys: [...this.unit.read('passkeys').values()]
        .filter((it) => it.realmId === realmId && it.userId === userId)
        .map(({ realmId: _, ...passkey }) => passkey),
      recoveryCodes: this.unit.read('recoveryCodes').get(key)?.length ?? 0,
    };
  }

  async findPasskey(realmId: RealmId, id: string): Promise<Passkey | null> {
    const found = this.unit.read('passkeys').get(keyOf(realmId, id));
    if (!found) return null;
    const { realmId: _, ...passkey } = found;
    return passkey;
  }

  async areUsed(realmId: RealmId): Promise<boolean> {
    const apps = [...this.unit.read('authenticatorApps').keys()];
    return apps.some((key) => key.startsWith(`${realmId}:`)) || this.hasPasskeys(realmId);
  }

  async hasPasskeys(realmId: RealmId): Promise<boolean> {
    return [...this.unit.read('passkeys').values()].some((it) => it.realmId === realmId);
  }

  async putApp(realmId: RealmId, userId: UserId, app: AuthenticatorApp | null): Promise<void> {
    const table = this.unit.change('authenticatorApps');
    if (app) table.set(keyOf(realmId, userId), app);
    else table.delete(keyOf(realmId, userId));
  }

  async putPasskey(realmId: RealmId, passkey: Passkey): Promise<void> {
    this.unit.change('passkeys').set(keyOf(realmId, passkey.id), { ...passkey, realmId });
  }

  async removePasskey(realmId: RealmId, userId: UserId, id: string): Promise<void> {
    const passkey = await this.findPasskey(realmId, id);
    if (passkey?.userId === userId) this.unit.change('passkeys').delete(keyOf(realmId, id));
  }

  async putRecoveryCodes(realmId: RealmId, userId: UserId, fingerprints: readonly string[]): Promise<void> {
    this.unit.change('recoveryCodes').set(keyOf(realmId, userId), fingerprints);
  }

  async takeRecoveryCode(realmId: RealmId, userId: UserId, fingerprint: string): Promise<boolean> {
    const key = keyOf(realmId, userId);
    const codes = this.unit.read('recoveryCodes').get(key) ?? [];
    if (!codes.includes(fingerprint)) return false;
    this.unit.change('recoveryCodes').set(
      key,
      codes.filter((code) => code !== fingerprint),
    );
    return true;
  }
}
