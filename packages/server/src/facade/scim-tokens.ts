import { IssueProvisioningToken, ListProvisioningTokens, RevokeProvisioningToken } from '@parley/domain/log-in';
import type { Resolve } from '../kernel/resolve.js';
import { object } from '../kernel/values.js';
import { type AuditTrail, byApplication } from '../observation/audit-trail.js';
import { properties, TEXT } from './argument-types.js';
import { Addresses } from './references.js';

export interface ScimTokenRef {
  /** Name of the organization. */
  readonly realm: string;
  /** Name of the token in the organization. */
  readonly name: string;
}

/** Tokens with which directories manage the users and groups of an organization by SCIM 2.0. */
export interface ScimTokens {
  /** Returns a new token; only its hash is stored. */
  create(token: ScimTokenRef): Promise<string>;
  /** Lists tokens by ascending name. */
  list(realm: string): Promise<readonly { readonly name: string; readonly createdAt: number }[]>;
  revoke(token: ScimTokenRef): Promise<void>;
}

const TOKEN = object({ realm: TEXT, name: TEXT });

export function scimTokensOf(resolve: Resolve, audits: AuditTrail): ScimTokens {
  const addresses = resolve(Addresses);
  const referenceOf = async (ref: ScimTokenRef) => {
    const { realm, name } = properties('The token', TOKEN, ref);
    return { name, realmId: await addresses.realmId(realm) };
  };
  return {
    create: async (ref) => {
      const token = await referenceOf(ref);
      return audits.run(byApplication('scimTokens.create'), () => resolve(IssueProvisioningToken).execute(token));
    },
    list: async (realm) =>
      (await resolve(ListProvisioningTokens).execute(await addresses.realmId(realm))).map(({ name, createdAt }) => ({
        name,
        createdAt,
      })),
    revoke: async (ref) => {
      const token = await referenceOf(ref);
      return audits.run(byApplication('scimTokens.revoke'), () => resolve(RevokeProvisioningToken).execute(token));
    },
  };
}
