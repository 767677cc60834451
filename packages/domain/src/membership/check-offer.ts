import type { Actor } from '../access/actor.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { InvitationOffer } from './invitation.js';
import { canInviteIntoChannels, canInviteIntoGroups, effectiveWelcomeText } from './invitation-permissions.js';

/**
 * The offer as the actor may make it (organization §9.1 rows 7–10): each channel and group once.
 * @throws DomainError UNKNOWN_CHANNEL, CANNOT_SUBSCRIBE_OTHERS, UNKNOWN_GROUP, GROUP_DEACTIVATED, NOT_PERMITTED
 */
export async function checkOffer(
  tx: Transaction,
  actor: Actor,
  realm: Realm,
  offer: InvitationOffer,
): Promise<InvitationOffer> {
  const channelIds = [...new Set(offer.channelIds)];
  const groupIds = [...new Set(offer.groupIds)];
  const found = new Map((await tx.channels.list(realm.id, channelIds)).map((channel) => [channel.id, channel]));
  const subscribed = new Set(channelIds.length > 0 ? await tx.channels.listSubscribedIds(realm.id, actor.id) : []);
  const channels = channelIds.map((id) => ({
    id,
    channel: found.get(id) ?? null,
    isSubscribed: subscribed.has(id),
  }));
  enforce(canInviteIntoChannels(actor, realm, channels));
  const groups = new Map((await tx.groups.list(realm.id, groupIds)).map((group) => [group.id, group]));
  enforce(
    canInviteIntoGroups(
      actor,
      realm,
      groupIds.map((id) => groups.get(id) ?? null),
    ),
  );
  return { ...offer, channelIds, groupIds, welcomeText: effectiveWelcomeText(actor, offer.welcomeText) };
}
