import type { Caller } from '../../shared/caller.js';
import { invalidInput } from '../../shared/errors.js';
import { enforce } from '../../shared/permission.js';
import type { RealmAddresses } from '../../shared/realm-address.js';
import { foldCase } from '../../shared/text.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { byFoldedName, parseChannelName } from '../channel.js';
import { canUnsubscribe } from '../channel-permissions.js';
import { checkSubscriptionCount } from '../follow-channels.js';
import { leaveChannels } from '../leave-channels.js';
import { countPrincipals, findPrincipals, type Principals } from '../principals.js';

export interface UnsubscribeUsersInput {
  readonly channelNames: readonly string[];
  /** Null: the caller. */
  readonly principals: Principals | null;
}

/** One entry for each user and channel. */
export interface UnsubscribeUsersOutput {
  readonly removed: readonly string[];
  readonly notSubscribed: readonly string[];
}

/** Leaves channels, oneself or for others (channels §4.6). */
export class UnsubscribeUsers {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly addresses: RealmAddresses,
  ) {}

  /** @throws DomainError INVALID_INPUT, NOT_PERMITTED */
  execute(caller: Caller, { channelNames, principals }: UnsubscribeUsersInput): Promise<UnsubscribeUsersOutput> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      checkSubscriptionCount(countPrincipals(principals), channelNames.length);
      const realm = await tx.realms.get(caller.realmId);
      const people = await findPrincipals(tx, actor, realm, principals ?? [actor.id], this.addresses);
      const wanted = byFoldedName(channelNames.map((name) => ({ name: parseChannelName(name) })));
      const names = [...wanted.values()].map(({ name }) => name);
      const found = byFoldedName(await tx.channels.listByName(realm.id, names));
      const channels = [...wanted.keys()].flatMap((key) => found.get(key) ?? []);
      const subscribed = new Set(await tx.channels.listSubscribedIds(realm.id, actor.id));
      const places = channels.map((channel) => ({ channel, isSubscribed: subscribed.has(channel.id) }));
      for (const person of people) {
        enforce(canUnsubscribe(actor, { id: person.id, botOwnerId: person.bot?.ownerId ?? null }, places));
      }
      const unknown = names.filter((name) => !found.has(foldCase(name)));
      if (unknown.length > 0) throw invalidInput(`Channel(s) (${unknown.join(', ')}) do not exist`);

      const userIds = people.map((person) => person.id);
      const { removed, notFollowing } = await leaveChannels(tx, channels, userIds);
      const repeated = (users: typeof removed) =>
        channels.flatMap((channel) => (users.get(channel.id) ?? []).map(() => channel.name));
      return { removed: repeated(removed), notSubscribed: repeated(notFollowing) };
    });
  }
}
