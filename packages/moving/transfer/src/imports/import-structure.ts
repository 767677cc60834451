import { type ApiKeyMint, putNewApiKey } from '@parley/domain/access';
import { systemGroupsOf } from '@parley/domain/groups';
import {
  byId,
  type ChannelFolderId,
  type ChannelId,
  type GroupId,
  type RealmCopy,
  type RealmPart,
  rewrittenDescription,
  slicesOf,
  type Transaction,
  type UnitOfWork,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import type { BotOptions } from '@parley/domain/membership';
import { mapChannelSettings } from '@parley/domain/realms';
import type { GroupCopy, UserCopy } from '../exports/realm-copy.js';
import type { ImportedIds } from './import-ids.js';

const ROWS_AT_A_TIME = 200;
/** Groups may have many members. */
const GROUPS_AT_A_TIME = 10;

export type OnAdded = (
  tx: Transaction,
  kind: 'person' | 'group' | 'channel' | 'conversation',
  ids: readonly number[],
) => Promise<void>;

/** Imports users, groups, channels and lists of an organization, without personal data. */
export class StructureImport {
  /** @param onAdded called in the unit that adds objects, with their ids in the copy */
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly ids: ImportedIds,
    private readonly parts: readonly RealmPart[],
    private readonly onAdded: OnAdded = async () => {},
  ) {}

  /** Adds new objects to an existing organization. The new channels stay hidden. */
  async merge(copy: RealmCopy, now: UnixSeconds): Promise<void> {
    // A continued import skips existing objects, so each unit adds complete ones.
    await this.addUsers(copy.users, (tx, users) => this.addToSystemGroups(tx, users, now));
    for (const groups of slicesOf(byId(copy.groups), GROUPS_AT_A_TIME)) {
      await this.addGroups(groups, (tx) => this.addMembers(tx, groups));
    }
    await this.uow.write(this.ids.realmId, async (tx) => {
      await this.ids.addAll(tx, 'channelFolder', 'channel folder', copy.channelFolders, (folder) => {
        const { id: _, order: __, ...row } = folder;
        return tx.channelFolders.add({ ...row, realmId: this.ids.realmId });
      });
    });
    // Archived private channels are hidden even from administrators by most clients.
    const hidden = { isArchived: true, privacy: 'privateSharedHistory' } as const;
    await this.addChannels({ ...copy, channels: copy.channels.map((channel) => ({ ...channel, ...hidden })) });
  }

  private async addToSystemGroups(tx: Transaction, copies: readonly UserCopy[], now: UnixSeconds): Promise<void> {
    const { realmId } = this.ids;
    const { settings } = await tx.realms.get(realmId);
    const groupIds = await tx.groups.systemGroupIds(realmId);
    const members = new Map<GroupId, UserId[]>();
    for (const { user } of copies) {
      for (const name of systemGroupsOf(user, settings.waitingPeriodThreshold, now)) {
        members.set(groupIds[name], [...(members.get(groupIds[name]) ?? []), this.ids.users.get(user.id)]);
      }
    }
    for (const [groupId, userIds] of members) await tx.groups.addMembers(realmId, groupId, userIds);
  }

  async run(copy: RealmCopy): Promise<void> {
    await this.addGroups(copy.groups);
    await this.addUsers(copy.users);
    await this.uow.write(this.ids.realmId, (tx) => this.addMembers(tx, copy.groups));
    await this.addParts(
      copy,
      this.parts.filter(({ namesChannels }) => !namesChannels),
    );
    await this.addChannels(copy);
    await this.addParts(
      copy,
      this.parts.filter(({ namesChannels }) => namesChannels),
    );
    await this.uow.write(this.ids.realmId, (tx) => this.completeRealm(tx, copy));
    await this.completeBots(copy.users);
  }

  private addParts(copy: RealmCopy, parts: readonly RealmPart[]): Promise<void> {
    return this.uow.write(this.ids.realmId, async (tx) => {
      for (const part of parts) await part.add(tx, this.ids, copy, this.ids);
    });
  }

  /** @param complete runs in the same unit */
  private async addGroups(
    copies: readonly GroupCopy[],
    complete: (tx: Transaction) => Promise<void> = async () => {},
  ): Promise<void> {
    await this.uow.write(this.ids.realmId, async (tx) => {
      for (const { memberIds: _, subgroupIds: __, ...group } of byId(copies)) {
        const row = { ...group, realmId: this.ids.realmId, permissions: null, creatorId: null };
        await this.ids.groups.add(tx, group.id, () => tx.groups.add(row, [], []));
      }
      await complete(tx);
      await this.onAdded(
        tx,
        'group',
        copies.map(({ id }) => id),
      );
    });
  }

  /** @param complete runs in the same unit as the addition of these users */
  private async addUsers(
    copies: readonly UserCopy[],
    complete: (tx: Transaction, users: readonly UserCopy[]) => Promise<void> = async () => {},
  ): Promise<void> {
    for (const slice of slicesOf(byId(copies.map((copy) => ({ ...copy, id: copy.user.id }))), ROWS_AT_A_TIME)) {
      await this.uow.write(this.ids.realmId, async (tx) => {
        for (const { user, systemKind } of slice) {
          const { id, version: _, ...copied } = user;
          // Temporary state until the picture is imported.
          const source = user.avatar.source === 'uploaded' ? 'generated' : user.avatar.source;
          const bot = user.bot && { ...user.bot, ownerId: null, defaultSendingChannelId: null };
          const row = { ...copied, realmId: this.ids.realmId, bot, avatar: { source, version: user.avatar.version } };
          const add = () => tx.users.add(row, null, systemKind ?? undefined);
          const added = await this.ids.users.add(tx, id, add);
          if (systemKind === null) {
            await putNewApiKey(tx, this.mint, { realmId: this.ids.realmId, userId: added.id, generation: 1 });
          }
        }
        await complete(tx, slice);
        await this.onAdded(
          tx,
          'person',
          slice.map(({ id }) => id),
        );
      });
    }
  }

  private async addMembers(tx: Transaction, copies: readonly GroupCopy[]): Promise<void> {
    for (const copy of copies) {
      const { memberIds, subgroupIds, ...group } = copy;
      const id = this.ids.groups.get(group.id);
      await tx.groups.addMembers(this.ids.realmId, id, this.ids.users.list(memberIds));
      await tx.groups.addSubgroups(this.ids.realmId, id, this.ids.groups.list(subgroupIds));
      await tx.groups.update({
        ...group,
        id,
        realmId: this.ids.realmId,
        creatorId: this.ids.users.orNull(group.creatorId),
        permissions: group.permissions && this.ids.permissionsOf(group.permissions),
      });
    }
  }

  /** Imports channels and direct conversations in creation order, which is the order of their recipient ids. */
  private async addChannels({ channels, conversations }: RealmCopy): Promise<void> {
    const { realmId } = this.ids;
    const recipients = [
      ...channels.map((channel) => ({ recipientId: channel.recipientId, channel, userIds: null })),
      ...conversations.map(({ recipientId, userIds }) => ({ recipientId, channel: null, userIds })),
    ].sort((a, b) => a.recipientId - b.recipientId);
    const lastChannelId = channels.reduce((last, { id }) => Math.max(last, id), 0);
    await this.uow.write(realmId, (tx) => this.ids.channels.reserve(tx, lastChannelId));
    for (const slice of slicesOf(recipients, ROWS_AT_A_TIME)) {
      await this.uow.write(realmId, async (tx) => {
        for (const { recipientId, channel, userIds } of slice) {
          const add = channel
            ? async () => (await this.addChannel(tx, channel)).recipientId
            : () => tx.recipients.openDirect(realmId, this.ids.users.list(userIds!));
          await this.ids.recipients.add(tx, recipientId, add);
        }
        const channelIds = slice.flatMap(({ channel }) => channel?.id ?? []);
        const direct = slice.filter(({ channel }) => channel === null);
        await this.onAdded(tx, 'channel', channelIds);
        await this.onAdded(
          tx,
          'conversation',
          direct.map(({ recipientId }) => recipientId),
        );
      });
    }
  }

  private addChannel(tx: Transaction, channel: RealmCopy['channels'][number]) {
    const { id, recipientId: _, version: __, ...copied } = channel;
    const row = {
      ...copied,
      realmId: this.ids.realmId,
      creatorId: this.ids.users.orNull(channel.creatorId),
      folderId:
        channel.folderId === null ? null : this.ids.lastOf<ChannelFolderId>('channelFolder').get(channel.folderId),
      firstMessageId: null,
      permissions: this.ids.permissionsOf(channel.permissions),
    };
    return this.ids.channels.add(tx, id, (reserved) => tx.channels.add(row, reserved));
  }

  private async completeRealm(tx: Transaction, { realm }: RealmCopy): Promise<void> {
    await tx.realms.update({
      ...(await tx.realms.get(this.ids.realmId)),
      settings: mapChannelSettings(realm.settings, (id) => this.ids.channels.orNull(id)),
      permissions: this.ids.permissionsOf(realm.permissions),
    });
  }

  /** Runs once every object that texts refer to has its id on this server. */
  async rewriteDescriptions(tx: Transaction, copy: RealmCopy): Promise<void> {
    const { realm, channels } = copy;
    const { realmId, rewriter } = this.ids;
    const copied = await tx.realms.get(realmId);
    const settings = {
      ...copied.settings,
      description: rewriter.markdown(realm.settings.description),
      welcomeMessageCustomText: rewriter.markdown(realm.settings.welcomeMessageCustomText),
    };
    await tx.realms.update({ ...copied, settings, renderedDescription: rewriter.html(realm.renderedDescription) });
    for (const channel of channels) {
      const present = await tx.channels.get(realmId, this.ids.channels.get(channel.id));
      const texts = rewrittenDescription(channel, rewriter);
      if (texts) await tx.channels.update({ ...present, ...texts });
    }
    for (const part of this.parts) await part.rewriteTexts?.(tx, copy, this.ids);
  }

  private async completeBots(copies: readonly UserCopy[]): Promise<void> {
    for (const slice of slicesOf(
      copies.filter(({ user }) => user.bot !== null),
      ROWS_AT_A_TIME,
    )) {
      await this.uow.write(this.ids.realmId, async (tx) => {
        for (const { user, botOptions } of slice) {
          const id = this.ids.users.get(user.id);
          const { ownerId, defaultSendingChannelId } = user.bot!;
          if (ownerId !== null || defaultSendingChannelId !== null) {
            const [stored] = await tx.users.list(this.ids.realmId, [id]);
            const bot = {
              ...user.bot!,
              ownerId: this.ids.users.orNull(ownerId),
              defaultSendingChannelId: this.ids.channels.orNull(defaultSendingChannelId as ChannelId | null),
            };
            await tx.users.update({ ...stored!, bot });
          }
          if (botOptions) await tx.bots.putOptions(this.ids.realmId, id, this.optionsOf(botOptions));
        }
      });
    }
  }

  private optionsOf(options: BotOptions): BotOptions {
    return { ...options, eventsChannelId: this.ids.channels.orNull(options.eventsChannelId) };
  }
}
