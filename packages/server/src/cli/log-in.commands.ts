import type { SessionId } from '@parley/domain/kernel';
import { OperatorClearsSecondFactors } from '@parley/domain/log-in';
import { SetUserEmail, UnlinkAccount } from '@parley/domain/membership';
import { EndUserSessions, ListUserSessions } from '@parley/domain/users';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { type Command, idOf } from './command.js';
import { BY_USER, userCommand } from './command-subjects.js';
import { timeOf } from './listed-lines.js';

export const LOG_IN_COMMANDS: readonly Command[] = [
  userCommand({
    name: 'user sessions',
    help: 'lists the browser sessions of a user (id, creation, last use, browser), or ends them',
    flags: {
      end: { help: 'ends all sessions; the server may be running' },
      session: { value: 'ID', help: 'with --end: ends only this session' },
    },
    examples: ['parley user sessions ann@example.com', 'parley user sessions ann@example.com --end --session 7'],
    isReadOnly: (flags) => flags.get('end') !== 'on',
    input({ flag, isOn }) {
      const id = flag('session');
      if (id !== undefined && !isOn('end')) throw new UsageError('--session needs --end.');
      return id === undefined ? {} : { sessionId: idOf('--session', id) as SessionId };
    },
    async run({ parley: { useCase }, user: { realmId, id: userId, email }, isOn }, session) {
      const operator = { realmId, userId: null };
      if (isOn('end')) {
        const ended = await useCase(EndUserSessions).execute(operator, { userId, ...session });
        return {
          lines: [`Ended ${ended} ${ended === 1 ? 'session' : 'sessions'} of ${email}`],
          data: { email, ended },
        };
      }
      const listed = await useCase(ListUserSessions).execute(operator, userId);
      const found = listed.sessions.map((session) => ({
        id: session.id,
        createdAt: timeOf(session.createdAt),
        lastUsedAt: timeOf(session.lastUsedAt),
        // User agents are untrusted input; strip control characters before they reach the terminal.
        userAgent: session.userAgent.replace(/\p{Cc}/gu, ''),
      }));
      const lines = found.map((one) => [one.id, one.createdAt, one.lastUsedAt, one.userAgent].join('\t'));
      return {
        lines: lines.length === 0 ? [`${email} has no browser sessions`] : lines,
        data: { email, sessions: found },
      };
    },
  }),
  userCommand({
    name: 'user second-factor',
    help: 'lists the second factors of a user, or removes them all after the user has lost them',
    details: `${BY_USER} The user gets an email about the removal.`,
    flags: { remove: { help: 'removes the authenticator app, all passkeys and recovery codes' } },
    examples: ['parley user second-factor ann@example.com', 'parley user second-factor ann@example.com --remove'],
    isReadOnly: (flags) => flags.get('remove') !== 'on',
    async run({ parley: { useCase, ports }, user: { realmId, id: userId, email }, isOn }) {
      if (isOn('remove')) {
        const removed = await useCase(OperatorClearsSecondFactors).execute({ realmId, userId });
        const line = removed ? `Removed all second factors of ${email}` : `${email} has no second factor`;
        return { lines: [line], data: { email, removed } };
      }
      const { app, passkeys, recoveryCodes } = await ports.unitOfWork.read(realmId, (repositories) =>
        repositories.secondFactors.find(realmId, userId),
      );
      const lines = [
        ...(app ? ['authenticator app'] : []),
        ...passkeys.map(({ name, createdAt }) => `passkey ${name.replace(/\p{Cc}/gu, '')}, ${timeOf(createdAt)}`),
        ...(recoveryCodes > 0 ? [`recovery codes: ${recoveryCodes}`] : []),
      ];
      const shown = passkeys.map(({ name, createdAt }) => ({ name, createdAt: timeOf(createdAt) }));
      return {
        lines: lines.length > 0 ? lines : [`${email} has no second factor`],
        data: { email, app: app !== null, passkeys: shown, recoveryCodes },
      };
    },
  }),
  userCommand({
    name: 'user linked-accounts',
    help: 'lists the linked accounts of a user at services and directories (service, id, link time), or unlinks one',
    details: `${BY_USER} The next account with the user's address at that service is linked instead. The server may be running.`,
    flags: { unlink: { value: 'SERVICE', help: "removes the link to the user's account at this service" } },
    examples: [
      'parley user linked-accounts ann@example.com',
      'parley user linked-accounts ann@example.com --unlink keycloak',
    ],
    isReadOnly: (flags) => !flags.has('unlink'),
    async run({ parley: { useCase, ports }, user: { realmId, id: userId, email }, flag }) {
      const service = flag('unlink');
      const accounts = await ports.unitOfWork.read(realmId, ({ logIns }) => logIns.listLinked(realmId, userId));
      if (service !== undefined) {
        if (!(await useCase(UnlinkAccount).execute({ realmId, userId, method: service }))) {
          const services = accounts.map(({ method }) => method).join(', ') || 'none';
          throw new StartupError(`--unlink must be a log-in service to which ${email} is linked: ${services}.`);
        }
        return { lines: [`Unlinked ${email} from ${service}`], data: { email, unlinked: service } };
      }
      const shown = accounts.map(({ method, subject, linkedAt }) => ({
        service: method,
        id: subject,
        linkedAt: timeOf(linkedAt),
      }));
      const lines = shown.map((account) => [account.service, account.id, account.linkedAt].join('\t'));
      return {
        lines: lines.length > 0 ? lines : [`${email} has no linked accounts`],
        data: { email, accounts: shown },
      };
    },
  }),
  userCommand({
    name: 'user release-address',
    help: 'frees the address of a deactivated user for reuse; account and messages stay',
    details: `${BY_USER} The account gets an address that cannot receive email. The server may be running.`,
    examples: ['parley user release-address ann@example.com'],
    async run({ parley: { useCase }, user: { realmId, id: userId, email, isActive } }) {
      if (isActive)
        throw new StartupError(`${email} is active; only the address of a deactivated user can be released.`);
      const user = await useCase(SetUserEmail).execute({
        realmId,
        userId,
        email: `user${userId}@released.parley.invalid`,
      });
      return {
        changes: { email: { from: email, to: user.email } },
        lines: [`Released ${email}; ${user.fullName} now has ${user.email}`],
        data: { released: email, email: user.email },
      };
    },
  }),
];
