import { defaultGroupSettings } from '../access/group-settings.js';
import { CHANNEL_PERMISSIONS, type Channel } from '../channels/channel.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { firstOf } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { isOnlyOwnerOf } from '../users/user-permissions.js';
import type { SystemMessages } from '../writing/system-messages.js';
import { attachHistory } from './joining-history.js';

/** Channels that new users are subscribed to, and first messages of the welcome bot by topic. */
const CHANNELS: readonly {
  readonly name: string;
  readonly description: string;
  readonly messages: readonly (readonly [topic: string, content: string])[];
}[] = [
  {
    name: 'general',
    description: 'Conversations of the whole team',
    messages: [
      [
        'welcome',
        'This is the topic **welcome** of the channel #**general**. A channel decides who reads a message, and a topic says ' +
          'what it is about.',
      ],
      [
        'welcome',
        'To begin a conversation, open a channel and write to a new topic. Two or three words are enough, like the subject of ' +
          'an email.',
      ],
    ],
  },
  {
    name: 'sandbox',
    description: 'A place to try things out',
    messages: [
      [
        'experiments',
        'Try things out here: **bold**, *italic*, `code`, :tada:, a link such as #**general>welcome**, or a poll with ' +
          '`/poll Lunch?`. React to this message with :thumbs_up:, and edit or delete your own.',
      ],
    ],
  },
];

/**
 * Adds default channels with messages by the welcome bot. Expects a realm without channels. Runs in the unit of work
 * that creates the realm.
 */
export async function startOrganization(tx: Transaction, realm: Realm, systemMessages: SystemMessages): Promise<void> {
  const bot = await tx.users.findSystemBot(realm.id, 'welcome');
  const system = await tx.groups.systemGroupIds(realm.id);
  const permissions = await defaultGroupSettings(CHANNEL_PERMISSIONS, system, async () => system.nobody);
  const channels: Channel[] = [];
  for (const { name, description } of CHANNELS) {
    const channel = await tx.channels.add({
      realmId: realm.id,
      name,
      description,
      // Plain text.
      renderedDescription: `<p>${description}</p>`,
      privacy: 'public',
      isArchived: false,
      creatorId: bot.id,
      createdAt: realm.createdAt,
      messageRetentionDays: null,
      topicsPolicy: 'inherit',
      folderId: null,
      isDefault: true,
      isRecentlyActive: true,
      firstMessageId: null,
      permissions,
    });
    channels.push(channel);
  }
  const settings = { ...realm.settings, newChannelAnnouncementsChannelId: firstOf(channels).id };
  await tx.realms.update({ ...realm, settings });
  const notices = CHANNELS.flatMap(({ messages }, index) =>
    messages.map(([topic, content]) => ({ channel: channels[index]!, topic, content })),
  );
  await systemMessages.postAll(tx, realm, { actor: null }, notices, 'welcome');
}

/**
 * Welcomes the first owner of an organization made by `startOrganization`: with unread messages in its channels, the
 * welcome message and first steps.
 */
export async function welcomeFirstOwner(
  tx: Transaction,
  realm: Realm,
  user: User,
  systemMessages: SystemMessages,
): Promise<void> {
  if (user.role !== 'owner' || !(await isOnlyOwnerOf(tx, realm.id, user.id))) return;
  const bot = await tx.users.findSystemBot(realm.id, 'welcome');
  const channels = (await tx.channels.listAll(realm.id)).filter(({ creatorId }) => creatorId === bot.id);
  if (channels.length === 0) return;
  await attachHistory(tx, channels, user);
  await systemMessages.sendWelcome(tx, realm, user, null);
  await tx.onboarding.markDone(realm.id, user.id, 'first_steps_offered');
}
