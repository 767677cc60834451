import type { NoticeBoard } from '../../messages/notice-board.js';
import { channelLink, silentMention } from '../../messages/notice-board.js';
import type { Caller } from '../../shared/caller.js';
import type { Clock } from '../../shared/clock.js';
import type { ChannelId, UserId } from '../../shared/ids.js';
import { enforce } from '../../shared/permission.js';
import type { RealmAddresses } from '../../shared/realm-address.js';
import { foldCase, trim } from '../../shared/text.js';
import type { Transaction, UnitOfWork } from '../../shared/unit-of-work.js';
import type { Actor } from '../../users/actor.js';
import { insufficientUnless, mustNotBeGuest } from '../../users/role-gates.js';
import type { User } from '../../users/user.js';
import { byFoldedName, type Channel, parseChannelName } from '../channel.js';
import { canSubscribeSelf, hasMetadataAccess, mayAddOthers } from '../channel-permissions.js';
import type { ChannelFounding, ChannelFoundry, ChannelWishes } from '../create-channels.js';
import { checkSubscriptionCount, type FollowingResult, followChannels } from '../follow-channels.js';
import { countPrincipals, findPrincipals, type Principals } from '../principals.js';
import { normalizeColor } from '../subscription.js';
import type { ChannelOptions } from './create-channel.js';

export interface SubscribeUsersInput {
  /** Channels that do not exist are created. */
  readonly channels: readonly {
    readonly name: string;
    /** `#` and three or six hexadecimal digits; null: whatever is free. */
    readonly color: string | null;
    /** Of a channel that is created. */
    readonly description: string;
  }[];
  /** Null: the caller. */
  readonly principals: Principals | null;
  /** For channels that are created. */
  readonly wishes: ChannelWishes;
  readonly announce: boolean;
  /** Whether a channel the caller cannot enter refuses the whole request. */
  readonly failsOnInaccessible: boolean;
  readonly tellNewSubscribers: boolean;
}

/** Names by user, in the order of the request. */
export interface SubscribeUsersOutput {
  readonly subscribed: ReadonlyMap<UserId, readonly string[]>;
  readonly alreadySubscribed: ReadonlyMap<UserId, readonly string[]>;
  /** Channels the caller cannot enter; those they may not even see in the spelling of the request. */
  readonly inaccessible: readonly string[];
  /** Whether few enough came to be told one by one. */
  readonly areNewSubscribersTold: boolean;
}

/** With more newcomers than that nobody gets a message about it (protocol §14). */
export const MAX_TOLD_SUBSCRIBERS = 100;

/** Follows channels, oneself or for others, and creates those that do not exist (channels §4.5). */
export class SubscribeUsers {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly foundry: ChannelFoundry,
    private readonly notices: NoticeBoard,
    private readonly clock: Clock,
    private readonly addresses: RealmAddresses,
    private readonly options: ChannelOptions,
  ) {}

  /** @throws DomainError NOT_PERMITTED, INVALID_INPUT, BAD_VALUE, MUST_BE_OWNER, UNSUPPORTED_COMBINATION, SYSTEM_GROUP_REQUIRED, RATE_LIMITED */
  async execute(caller: Caller, input: SubscribeUsersInput): Promise<SubscribeUsersOutput> {
    const descriptions = input.channels.map(({ description }) => description);
    const parsedDescriptions = await this.foundry.parseDescriptions(this.uow, caller.realmId, descriptions);
    const { actor, made, output } = await this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustNotBeGuest(actor));
      checkSubscriptionCount(countPrincipals(input.principals), input.channels.length);
      const realm = await tx.realms.get(caller.realmId);
      const creator = (await tx.users.find(caller.realmId, caller.userId))!;
      const founding = { realm, actor, creator, now: this.clock.now(), parsedDescriptions, ...this.options };

      this.foundry.checkWishes(founding, input.wishes, input.channels.length);
      const { existing, created } = await this.findOrCreate(tx, founding, input);
      const { accessible, inaccessible } = await this.sortOut(tx, actor, existing, input);
      const others = isAboutOthers(actor, input.principals);
      if (others) enforce(insufficientUnless(accessible.every((channel) => mayAddOthers(actor, realm, channel))));
      const principals = await findPrincipals(tx, actor, realm, input.principals ?? [actor.id], this.addresses);

      const channels = inOrderOf(input, [...created, ...accessible]);
      const following = await followChannels(tx, {
        channels,
        userIds: principals.map((user) => user.id),
        requestedColors: requestedColors(input, channels),
      });
      await this.foundry.announce(tx, founding, created, input.announce);
      const newcomers = new Set([...following.added.values()].flat());
      const areNewSubscribersTold = newcomers.size <= MAX_TOLD_SUBSCRIBERS;
      if (input.tellNewSubscribers && areNewSubscribersTold) {
        await this.tellNewSubscribers(tx, founding, accessible, following, principals);
      }
      const output: SubscribeUsersOutput = {
        subscribed: namesByUser(channels, following.added),
        alreadySubscribed: namesByUser(channels, following.alreadyFollowing),
        inaccessible,
        areNewSubscribersTold,
      };
      return { actor, made: created.length, output };
    });
    if (made > 0) this.foundry.count(actor, made);
    return output;
  }

  private async findOrCreate(
    tx: Transaction,
    founding: ChannelFounding,
    input: SubscribeUsersInput,
  ): Promise<{ existing: readonly Channel[]; created: readonly Channel[] }> {
    const { channels, wishes } = input;
    const wanted = byFoldedName(
      channels.map(({ name, description }) => ({ name: parseChannelName(name), description })),
    );
    const names = [...wanted.values()].map(({ name }) => name);
    const existing = inOrderOf(input, await tx.channels.listByName(founding.realm.id, names));
    for (const channel of existing) wanted.delete(foldCase(channel.name));
    if (wanted.size === 0) return { existing, created: [] };
    // In another order than when a channel is created by itself (channels §4.5).
    const permissions = await this.foundry.acceptPermissions(tx, founding, wishes);
    await this.foundry.checkTopicCreation(tx, founding, wishes);
    await this.foundry.checkDeletePolicy(tx, founding, permissions);
    this.foundry.checkCreation(founding, wishes);
    return { existing, created: await this.foundry.found(tx, founding, [...wanted.values()], wishes, permissions) };
  }

  private async sortOut(
    tx: Transaction,
    actor: Actor,
    existing: readonly Channel[],
    { channels, failsOnInaccessible }: SubscribeUsersInput,
  ): Promise<{ accessible: readonly Channel[]; inaccessible: readonly string[] }> {
    const subscribed = new Set(await tx.channels.listSubscribedIds(actor.realmId, actor.id));
    const typed = byFoldedName(channels.map(({ name }) => ({ name: trim(name) })));
    const accessible: Channel[] = [];
    const inaccessible: string[] = [];
    for (const channel of existing) {
      const isSubscribed = subscribed.has(channel.id);
      const isVisible = hasMetadataAccess(actor, channel, isSubscribed);
      // Of a hidden channel nobody is told more than they typed themselves (contract decision 20).
      const name = isVisible ? channel.name : typed.get(foldCase(channel.name))!.name;
      const decision = canSubscribeSelf(actor, { ...channel, name }, isSubscribed);
      if (failsOnInaccessible) enforce(decision);
      if (decision.allowed) accessible.push(channel);
      else inaccessible.push(name);
    }
    return { accessible, inaccessible };
  }

  /** Never about channels that this request created, nor to bots, nor to the caller. */
  private async tellNewSubscribers(
    tx: Transaction,
    { realm, actor, creator }: ChannelFounding,
    channels: readonly Channel[],
    { added }: FollowingResult,
    principals: readonly User[],
  ): Promise<void> {
    const who = silentMention(creator);
    const followed = namesByUser(channels, added);
    for (const person of principals) {
      const names = followed.get(person.id);
      if (person.id === actor.id || person.bot || !names) continue;
      const links = [...names].sort().map((name) => channelLink({ name }));
      await this.notices.tell(
        tx,
        realm,
        person,
        links.length === 1
          ? `${who} subscribed you to ${links[0]}.`
          : `${who} subscribed you to the following channels:\n\n${links.map((link) => `* ${link}`).join('\n')}`,
        { actor, about: channels },
      );
    }
  }
}

/** Sic: the caller's own address counts as somebody else (channels §4.5). */
function isAboutOthers(actor: Actor, principals: Principals | null): boolean {
  if (principals === null) return false;
  if ('emails' in principals) return principals.emails.length > 0;
  return principals.some((id) => id !== actor.id);
}

function inOrderOf({ channels }: SubscribeUsersInput, found: readonly Channel[]): readonly Channel[] {
  const byName = byFoldedName(found);
  const ordered = channels.flatMap(({ name }) => byName.get(foldCase(trim(name))) ?? []);
  return [...new Set(ordered)];
}

function requestedColors({ channels }: SubscribeUsersInput, found: readonly Channel[]): ReadonlyMap<ChannelId, string> {
  const byName = byFoldedName(found);
  const colors = new Map<ChannelId, string>();
  for (const { name, color } of channels) {
    const channel = byName.get(foldCase(trim(name)));
    if (channel && color !== null) colors.set(channel.id, normalizeColor(color));
  }
  return colors;
}

function namesByUser(
  channels: readonly Channel[],
  users: ReadonlyMap<ChannelId, readonly UserId[]>,
): ReadonlyMap<UserId, readonly string[]> {
  const names = new Map<UserId, string[]>();
  for (const channel of channels) {
    for (const id of users.get(channel.id) ?? []) {
      const list = names.get(id) ?? [];
      list.push(channel.name);
      names.set(id, list);
    }
  }
  return names;
}
