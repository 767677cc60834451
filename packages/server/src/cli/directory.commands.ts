import { IssueProvisioningToken, ListProvisioningTokens, RevokeProvisioningToken } from '@parley/domain/membership';
import type { Command, CommandContext, CommandResult } from './command.js';
import { findRealm, nameOf, REALM } from './databases.js';

async function createToken(context: CommandContext): Promise<CommandResult> {
  const name = context.words[0]!;
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context.flag('realm'));
    const token = await parley.useCase(IssueProvisioningToken).execute({ realmId: realm.id, name });
    const url = `${parley.ports.realmUrls.urlOf(realm)}/scim/v2`;
    return {
      lines: [
        `Token '${name}' may manage the people and groups of ${nameOf(realm)}. It is shown only once.`,
        `address: ${url}`,
        `token: ${token}`,
      ],
      data: { name, url, token },
    };
  });
}

async function listTokens(context: CommandContext): Promise<CommandResult> {
  return context.withParley(async (parley) => {
    const { id } = await findRealm(parley, context.flag('realm'));
    const tokens = (await parley.useCase(ListProvisioningTokens).execute(id)).map(({ name, createdAt }) => ({
      name,
      created: new Date(createdAt * 1000).toISOString(),
    }));
    return { lines: tokens.map(({ name, created }) => `${created}\t${name}`), data: { tokens } };
  });
}

async function revokeToken(context: CommandContext): Promise<CommandResult> {
  const name = context.words[0]!;
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context.flag('realm'));
    await parley.useCase(RevokeProvisioningToken).execute({ realmId: realm.id, name });
    return { lines: [`Revoked token '${name}' of ${nameOf(realm)}`], data: { name } };
  });
}

export const DIRECTORY_COMMANDS: readonly Command[] = [
  {
    name: 'scim token create',
    words: 'NAME',
    help: 'makes a token with which a directory manages people and groups by SCIM 2.0',
    details: 'NAME is named by audit lines. The server may be running.',
    flags: REALM,
    examples: ['parley scim token create okta'],
    run: createToken,
  },
  {
    name: 'scim token list',
    help: 'lists the SCIM tokens of an organization (created, name)',
    flags: REALM,
    examples: ['parley scim token list'],
    isReadOnly: () => true,
    run: listTokens,
  },
  {
    name: 'scim token revoke',
    words: 'NAME',
    help: 'revokes a SCIM token, from the next request on',
    flags: REALM,
    examples: ['parley scim token revoke okta'],
    run: revokeToken,
  },
];
