import type { AnonymousCaller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { IssuedKey } from '../../users/use-cases/fetch-api-key.js';
import { JoinRealm, type JoinRealmInput } from './join-realm.js';
import { RequestSignUp } from './request-sign-up.js';

/** What came of it: an account, or a letter to the address, by whose key they join. */
export type JoinOutcome = IssuedKey | { readonly confirmedBy: 'letter'; readonly email: string };

/** Joining in one step, or in two where an invitation does not show whose the address is (organization §10.7). */
export class JoinOrConfirm {
  static readonly inject = [JoinRealm, RequestSignUp] as const;
  constructor(
    private readonly joinRealm: JoinRealm,
    private readonly requestSignUp: RequestSignUp,
  ) {}

  /** @throws DomainError those of `JoinRealm` but EMAIL_UNCONFIRMED, and those of `RequestSignUp` */
  async execute(caller: AnonymousCaller, input: JoinRealmInput): Promise<JoinOutcome> {
    try {
      return await this.joinRealm.execute(caller, input);
    } catch (error) {
      if (!(error instanceof DomainError && error.is('EMAIL_UNCONFIRMED'))) throw error;
    }
    const { email } = await this.requestSignUp.execute(caller, { key: input.key, email: input.email ?? '' });
    return { confirmedBy: 'letter', email };
  }
}
