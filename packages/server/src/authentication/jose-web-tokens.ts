import type { Clock } from '@parley/domain/kernel';
import type { JsonWebTokens, TokenClaims } from '@parley/domain/users';

/** Symmetric algorithms only: with others, a public key could be taken for the secret. */
const ALGORITHMS = ['HS256', 'HS384', 'HS512'];

/** Checked by jose, which is loaded when the first token comes. */
export class JoseWebTokens implements JsonWebTokens {
  /** `secrets`: by the string id of the organization. */
  constructor(
    private readonly secrets: ReadonlyMap<string, string>,
    private readonly clock: Clock,
  ) {}

  isEnabledFor(realmStringId: string): boolean {
    return this.secrets.has(realmStringId);
  }

  async verify(realmStringId: string, token: string): Promise<TokenClaims | null> {
    const { errors, jwtVerify } = await import('jose');
    const key = new TextEncoder().encode(this.secrets.get(realmStringId));
    try {
      const currentDate = new Date(this.clock.nowMs());
      const { payload } = await jwtVerify(token, key, { algorithms: ALGORITHMS, currentDate });
      return { email: typeof payload.email === 'string' ? payload.email : null };
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}
