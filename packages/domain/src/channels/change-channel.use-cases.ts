import type { Actor } from '../access/actor.js';
import {
  type GroupSettingUpdate,
  type GroupSettingValue,
  groupForSetting,
  groupSettingUpdate,
  namedIn,
  validateGroupSetting,
} from '../access/group-settings.js';
import { DomainError } from '../kernel/errors.js';
import type { EventOf } from '../kernel/event.js';
import type { Caller, ChannelFolderId, ChannelId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { firstOf, getOrThrow } from '../kernel/work.js';
import type { ParsedMarkdown, ParsedText, TextRenderer } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { unarchiveChannel } from './archive-channel.use-cases.js';
import {
  CHANNEL_PERMISSIONS,
  type Channel,
  type ChannelPermission,
  type ChannelPrivacy,
  normalizeChannelDescription,
  parseChannelName,
  parseRetention,
  type RetentionDays,
  type RetentionInput,
  type TopicsPolicy,
} from './channel.js';
import { type LoadedChannel, loadChannel } from './channel-access.js';
import { type ChannelPropertyChange, publishChannelChange } from './channel-events.js';
import { requireFolder } from './channel-folders.js';
import {
  CHANNEL_EVENTS_TOPIC,
  descriptionNotice,
  MAX_NAMED_USERS,
  type NamedSetting,
  type NotificationBot,
  postingPermissionNotice,
  privacyNotice,
  renamingNotice,
  retentionNotice,
  topicsPolicyNotice,
} from './channel-notices.js';
import {
  canChangeChannel,
  canChangeChannelPermission,
  canChangeDefaultChannels,
  canChangePrivacy,
  canChangeTopicsPolicy,
  canLimitTopicCreation,
  canSetDeletePolicy,
  canSetRetention,
  canUnarchiveChannel,
  type PrivacyRequest,
  proposedPrivacy,
} from './channel-permissions.js';
import { channelNameTaken, type ServerChannelConfig } from './create-channels.use-cases.js';
import { setDefaultChannel } from './default-channels.js';

/** Absent properties stay unchanged. */
export interface ChangeChannelInput {
  readonly channelId: ChannelId;
  readonly name?: string;
  readonly description?: string;
  readonly privacy: Omit<PrivacyRequest, 'isDefault'>;
  readonly isDefault?: boolean;
  readonly retention?: RetentionInput;
  readonly unarchives: boolean;
  /** Null removes the channel from its folder. */
  readonly folderId?: ChannelFolderId | null;
  readonly topicsPolicy?: TopicsPolicy;
  readonly permissions: { readonly [P in ChannelPermission]?: GroupSettingUpdate };
}

interface Request extends LoadedChannel {
  readonly actor: Actor;
  readonly realm: Realm;
  readonly input: ChangeChannelInput;
}

interface PermissionChange {
  readonly name: ChannelPermission;
  readonly before: GroupSettingValue;
  readonly value: GroupSettingValue;
}

/** Resolved changes of a request; null for unchanged properties. */
interface Plan {
  readonly topicsPolicy: TopicsPolicy | null;
  readonly privacy: ChannelPrivacy | null;
  readonly retention: { readonly days: RetentionDays | null } | null;
  readonly description: { readonly text: string; readonly html: string } | null;
  readonly name: string | null;
  readonly folder: { readonly id: ChannelFolderId | null } | null;
  readonly permissions: readonly PermissionChange[];
}

/** Texts parsed before the transaction. */
interface ParsedChange {
  readonly description: ParsedText;
  readonly notice: ParsedMarkdown | undefined;
}

const DELETE_POLICIES: readonly ChannelPermission[] = ['canDeleteAnyMessage', 'canDeleteOwnMessage'];

/** Changes name, description, privacy and permissions of a channel (channels §4.11, §4.13). */
export class ChangeChannel {
  static readonly inject = ['unitOfWork', 'textRenderer', 'systemMessages', 'clock', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly descriptions: TextRenderer,
    private readonly notificationBot: NotificationBot,
    private readonly clock: Clock,
    private readonly options: Pick<ServerChannelConfig, 'webPublicEnabled'>,
  ) {}

  /**
   * Applies all changes or none; checks run in the contract's order.
   * @throws DomainError UNKNOWN_CHANNEL, CANNOT_ADMINISTER_CHANNEL, INVALID_CHANNEL_PRIVACY,
   * DEFAULT_CHANNEL_MUST_BE_PUBLIC, MODERATION_CHANNEL_MUST_BE_PRIVATE, CHANNEL_CONTENT_ACCESS_REQUIRED, NOT_PERMITTED,
   * WEB_PUBLIC_CHANNELS_DISABLED, CHANNEL_HAS_NAMED_TOPICS, TOPIC_CREATION_MUST_BE_OPEN, CANNOT_MANAGE_DEFAULT_CHANNEL,
   * MUST_BE_OWNER, INVALID_RETENTION, CHANNEL_NOT_ARCHIVED, CHANNEL_WITHOUT_SUBSCRIBERS, UNRENDERABLE_CONTENT,
   * CHANNEL_NAME_UNCHANGED, INVALID_CHANNEL_NAME, CHANNEL_NAME_TAKEN, UNKNOWN_CHANNEL_FOLDER, STALE_VALUE, and the
   * codes of `validateGroupSetting`
   */
  async execute(caller: Caller, input: ChangeChannelInput): Promise<void> {
    const parsed = await this.parseDescription(caller, input);
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(caller.realmId);
      const loaded = await loadChannel(tx, actor, input.channelId, canChangeChannel);
      const request: Request = { ...loaded, actor, realm, input };
      const plan = await this.check(tx, request, parsed);
      await this.apply(tx, request, plan, parsed);
    });
  }

  /** Implements channels §4.11 rows 1–9 and 11–19. @throws DomainError */
  private async check(tx: Transaction, request: Request, parsed: ParsedChange | null): Promise<Plan> {
    const { actor, realm, channel, isSubscribed, input } = request;
    const asked: PrivacyRequest = {
      ...input.privacy,
      ...(input.isDefault !== undefined && { isDefault: input.isDefault }),
    };
    enforce(canChangePrivacy(actor, realm, channel, isSubscribed, asked, this.options));
    const privacy = proposedPrivacy(channel, asked)!;
    if (input.topicsPolicy !== undefined) {
      const hasNamedTopics = await tx.topics.hasNamedTopics(realm.id, channel.recipientId);
      enforce(canChangeTopicsPolicy(actor, realm, input.topicsPolicy, hasNamedTopics));
    }
    const { nobody, everyone } = await tx.groups.systemGroupIds(realm.id);
    if (input.permissions.canCreateTopic === undefined) {
      enforce(canLimitTopicCreation(privacy, channel.permissions.canCreateTopic === everyone));
    }
    if (input.isDefault !== undefined) enforce(canChangeDefaultChannels(actor));
    if (input.retention !== undefined) enforce(canSetRetention(actor));
    const retention = input.retention === undefined ? channel.messageRetentionDays : parseRetention(input.retention);
    if (input.unarchives) {
      const hasSubscribers = (await tx.channels.countSubscribers(realm.id, channel.id)) > 0;
      enforce(canUnarchiveChannel({ privacy, isArchived: channel.isArchived }, hasSubscribers));
    }
    if (DELETE_POLICIES.some((name) => input.permissions[name])) enforce(canSetDeletePolicy(actor, realm));
    const description = await this.newDescription(tx, request, parsed);
    const name = input.name === undefined ? null : await newName(tx, channel, input.name);
    const { folderId = channel.folderId } = input;
    if (folderId !== null && folderId !== channel.folderId) await requireFolder(tx, realm.id, folderId);
    const permissions = await newPermissions(tx, request, privacy, { nobody, everyone });
    return {
      topicsPolicy: input.topicsPolicy === channel.topicsPolicy ? null : (input.topicsPolicy ?? null),
      privacy: Object.values(input.privacy).some((value) => value !== undefined) ? privacy : null,
      retention: retention === channel.messageRetentionDays ? null : { days: retention },
      description,
      name,
      folder: folderId === channel.folderId ? null : { id: folderId },
      permissions,
    };
  }

  private async apply(
    tx: Transaction,
    { actor, realm, channel: original, input }: Request,
    plan: Plan,
    parsed: ParsedChange | null,
  ): Promise<void> {
    const by = await tx.users.get(realm.id, actor.id);
    // Reloads the channel, because posting notices also changes it.
    const current = async () => await tx.channels.get(realm.id, original.id);
    const change = async (to: Partial<Channel>, announced: ChannelPropertyChange): Promise<Channel> => {
      const before = await current();
      const after = await tx.channels.update({ ...before, ...to });
      const event: EventOf<'channel.property_changed'> = {
        type: 'channel.property_changed',
        channelId: after.id,
        name: before.name,
        ...announced,
      };
      await publishChannelChange(tx, before, after, event);
      return after;
    };
    const notify = async (content: string, ahead?: ParsedMarkdown): Promise<void> => {
      if (!realm.settings.sendChannelEventsMessages) return;
      const channel = await current();
      await this.notificationBot.sendToChannel(tx, realm, {
        ...{ channel, topic: CHANNEL_EVENTS_TOPIC, content, author: { actor, about: [channel] } },
        ...(ahead && { ahead }),
      });
    };

    if (plan.topicsPolicy !== null) {
      await change({ topicsPolicy: plan.topicsPolicy }, { property: 'topicsPolicy', value: plan.topicsPolicy });
      if (!original.isArchived) await notify(topicsPolicyNotice(by, original.topicsPolicy, plan.topicsPolicy));
    }
    if (plan.privacy !== null) {
      await change({ privacy: plan.privacy }, { property: 'privacy', value: plan.privacy });
      await notify(privacyNotice(by, original.privacy, plan.privacy));
    }
    if (input.isDefault !== undefined) await setDefaultChannel(tx, await current(), input.isDefault);
    if (plan.retention !== null) {
      const { days } = plan.retention;
      await change({ messageRetentionDays: days }, { property: 'messageRetentionDays', value: days });
      const resolved = (own: RetentionDays | null) => own ?? realm.settings.messageRetentionDays ?? 'forever';
      await notify(retentionNotice(by, resolved(original.messageRetentionDays), resolved(days)));
    }
    if (input.unarchives) {
      const { notificationBot } = this;
      await unarchiveChannel(tx, realm, await current(), { notificationBot, now: this.clock.now() });
    }
    if (plan.description !== null) {
      const { text, html } = plan.description;
      await change(
        { description: text, renderedDescription: html },
        { property: 'description', value: text, rendered: html },
      );
      await notify(descriptionNotice(by, original.description, text), parsed?.notice);
    }
    if (plan.name !== null) {
      await change({ name: plan.name }, { property: 'name', value: plan.name });
      await notify(renamingNotice(by, original.name, plan.name));
    }
    if (plan.folder !== null) {
      await change({ folderId: plan.folder.id }, { property: 'folderId', value: plan.folder.id });
    }
    for (const permission of plan.permissions) {
      await changePermission(tx, await current(), permission);
      if (permission.name === 'canSendMessage') {
        const { before, value } = permission;
        await notify(postingPermissionNotice(by, await namesIn(tx, realm, before), await namesIn(tx, realm, value)));
      }
    }
  }

  /** Parses the description and the expected notice about it. The old description may change before the transaction. */
  private async parseDescription(
    caller: Caller,
    { channelId, description }: ChangeChannelInput,
  ): Promise<ParsedChange | null> {
    if (description === undefined) return null;
    const text = normalizeChannelDescription(description);
    const [realm, channel, by] = await this.uow.read(caller.realmId, async ({ realms, channels, users }) => [
      await realms.get(caller.realmId),
      await channels.find(caller.realmId, channelId),
      await users.find(caller.realmId, caller.userId),
    ]);
    const notice = descriptionNotice(by!, channel?.description ?? '', text);
    return {
      description: await this.descriptions.parse(realm.id, text),
      notice: await this.notificationBot.parseNotice(realm, notice),
    };
  }

  private async newDescription(
    tx: Transaction,
    { actor, channel }: Request,
    parsed: ParsedChange | null,
  ): Promise<Plan['description']> {
    if (parsed === null) return null;
    const { text } = parsed.description;
    if (text === channel.description) return null;
    return { text, html: await this.descriptions.render(tx, actor.realmId, actor, parsed.description) };
  }
}

/** Implements channels §4.11 rows 16 and 17. @throws DomainError */
async function newName(tx: Transaction, channel: Channel, typed: string): Promise<string> {
  const name = trim(typed);
  if (name === channel.name) throw new DomainError('CHANNEL_NAME_UNCHANGED', 'Channel already has that name.');
  // A change of case can lengthen a name.
  parseChannelName(name);
  const holder = await tx.channels.findByName(channel.realmId, name);
  if (holder && holder.id !== channel.id) throw channelNameTaken(name);
  return name;
}

/** Implements channels §4.11 row 19. @throws DomainError */
async function newPermissions(
  tx: Transaction,
  { actor, realm, channel, isSubscribed, input }: Request,
  privacy: ChannelPrivacy,
  { nobody, everyone }: Pick<Awaited<ReturnType<Transaction['groups']['systemGroupIds']>>, 'nobody' | 'everyone'>,
): Promise<readonly PermissionChange[]> {
  const names = (Object.keys(CHANNEL_PERMISSIONS) as ChannelPermission[]).filter((name) => input.permissions[name]);
  const current = await tx.groups.settingValues(
    realm.id,
    names.map((name) => channel.permissions[name]),
  );
  const changes: PermissionChange[] = [];
  for (const name of names) {
    const before = getOrThrow(current, channel.permissions[name]);
    const { decision, value: wanted } = groupSettingUpdate(before, input.permissions[name]!, nobody);
    enforce(decision);
    if (wanted === null) continue;
    enforce(canChangeChannelPermission(actor, realm, channel, isSubscribed, name));
    if (name === 'canCreateTopic') enforce(canLimitTopicCreation(privacy, wanted === everyone));
    const value = await validateGroupSetting(tx, realm.id, name, CHANNEL_PERMISSIONS[name], wanted);
    changes.push({ name, before, value });
  }
  return changes;
}

async function changePermission(tx: Transaction, before: Channel, { name, value }: PermissionChange): Promise<void> {
  const { id, realmId } = before;
  const groupId = await groupForSetting(tx, realmId, value);
  const sendersOf = async () => firstOf(await tx.channels.listViews(realmId, [id])).sendersSystemGroup;
  const changesSenders = name === 'canSendMessage';
  const sendersBefore = changesSenders ? await sendersOf() : null;
  const after = await tx.channels.update({ ...before, permissions: { ...before.permissions, [name]: groupId } });
  await publishChannelChange(tx, before, after, {
    type: 'channel.permission_changed',
    channelId: id,
    name: after.name,
    permission: name,
    groupId,
    value,
    senders: changesSenders ? { before: sendersBefore, after: await sendersOf() } : null,
  });
}

async function namesIn(tx: Transaction, realm: Realm, value: GroupSettingValue): Promise<NamedSetting> {
  const { groupIds, userIds } = namedIn(value);
  const groupNames: string[] = [];
  for (const id of [...groupIds].sort((a, b) => a - b)) {
    const name = (await tx.groups.find(realm.id, id))?.name;
    if (name) groupNames.push(name);
  }
  const users: readonly User[] = await tx.users.list(realm.id, userIds.slice(0, MAX_NAMED_USERS));
  return { value, groupNames, users };
}
