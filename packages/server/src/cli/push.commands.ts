import { existsSync } from 'node:fs';
import { isSent, SendTestNotifications } from '@parley/domain/push';
import { isEmailAddress } from '@parley/domain/users';
import { makePushKey, OutgoingProxy } from '@parley/node-adapters';
import { SqlitePushServerStore } from '@parley/push-service';
import { sqliteOf } from '../configuration/configuration.js';
import { pushServiceOf, wayToPhones } from '../doctor/phone-push.js';
import { addressesOf } from '../http/http-server.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { always, type Command, EXIT_CODES } from './command.js';
import { ofUser, REALM } from './command-subjects.js';

export const PUSH_COMMANDS: readonly Command[] = [
  ofUser({
    name: 'notify test',
    words: 'USER',
    help: 'sends a test notification to all phones, browsers and the mailbox of a user and prints the results',
    flags: REALM,
    examples: ['parley notify test ann@example.com'],
    async run({ parley, user, realm, invocation }) {
      const tested = await parley.useCase(SendTestNotifications).execute({ realmId: realm.id, userId: user.id });
      const push = wayToPhones(invocation.configuration.push);
      const web = parley.ports.webPushService ? 'configured' : 'off';
      const email = parley.ports.digestConfig.sendsDigests ? 'configured' : 'off';
      return {
        lines: [
          `Phones: ${push}. Web push: ${web}. Email: ${email}.`,
          ...tested.map(({ channel, target, result }) => `${channel}\t${target}\t${result}`),
          ...(tested.length === 0
            ? [`${user.fullName} has no phone, browser or mailbox that receives notifications.`]
            : []),
        ],
        data: { push, web, email, tested },
        ...(tested.every(isSent) ? {} : { exitCode: EXIT_CODES.found }),
      };
    },
  }),
  {
    name: 'push key',
    help: 'generates the key pair for the tokens of your own build of the app',
    details: 'Opens no database and stores nothing.',
    examples: ['parley push key'],
    isReadOnly: always,
    async run() {
      const { privateKey, publicKey } = makePushKey();
      const lines = [
        `Public key for your build of the app: ${publicKey}`,
        `Private key for PARLEY_PUSH_KEYS (keep it secret): ${privateKey}`,
      ];
      return { lines, data: { publicKey, privateKey } };
    },
  },
  {
    name: 'push register',
    words: 'ADDRESS',
    help: 'registers this server with the push service in PARLEY_PUSH_SERVICE under an email address of the operator',
    details:
      'Opens no database. First choose PARLEY_PUSH_ORG_ID (a UUID) and PARLEY_PUSH_ORG_KEY (64 random characters).',
    examples: ['parley push register ops@example.com'],
    async run({ invocation: { configuration }, words }) {
      const [contact] = words as [string];
      if (!isEmailAddress(contact)) throw new UsageError('ADDRESS must be an address such as ops@example.com.');
      const { push } = configuration;
      if (!push || 'keys' in push) throw new StartupError('There is no push service: PARLEY_PUSH_SERVICE is not set.');
      try {
        const { host } = new URL(addressesOf(configuration).url);
        const created = await pushServiceOf(push, new OutgoingProxy(configuration.outgoingProxy)).registerServer(
          host,
          contact,
        );
        return {
          lines: [`The push service ${created ? 'has registered' : 'had already registered'} this server.`],
          data: { created },
        };
      } catch (error) {
        throw new StartupError(`The push service rejected this server: ${(error as Error).message}`);
      }
    },
  },
  {
    name: 'push backup',
    words: 'FILE',
    help: 'copies the database of a push service to a new file; the service may be running',
    details: 'The copy contains tokens but no keys: back up PARLEY_PUSH_KEYS and the APNs and FCM keys separately.',
    examples: ['parley push backup /backups/push-$(date +%F).db --database sqlite:/var/lib/parley-push/push.db'],
    async run({ invocation: { configuration }, word }) {
      const target = word(0);
      const { path } = sqliteOf(configuration, 'A push service');
      if (!existsSync(path))
        throw new StartupError(`There is no database at ${path}. Set --database or PARLEY_DATABASE.`);
      try {
        SqlitePushServerStore.backUp(path, target);
      } catch (error) {
        throw new StartupError(`The database was not copied: ${(error as Error).message}`);
      }
      return {
        lines: [
          `${target} is a copy of the database. To restore it, stop the push service and replace its database with the copy.`,
        ],
        data: { database: path, copy: target },
      };
    },
  },
];
