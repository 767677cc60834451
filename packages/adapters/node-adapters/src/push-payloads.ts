import type { RealmUrls } from '@parley/domain/kernel';
import type { UserSummary } from '@parley/domain/messages';
import type { ActiveDevice, MessageNotice, PushNotice, PushRecipient } from '@parley/domain/push';
import type { Realm } from '@parley/domain/realms';
import { dummyAddress } from '@parley/domain/users';

/** Returns the absolute URL of a sender's picture; null if the recipient may not see the sender. */
export type AvatarUrlOf = (realm: Realm, sender: UserSummary | null) => string;

interface PayloadParts {
  readonly realmUrls: RealmUrls;
  readonly avatarUrlOf: AvatarUrlOf;
}

/** Payloads of phone notifications (organization §14). */
export class PushPayloads {
  constructor(private readonly parts: PayloadParts) {}

  /** Plaintext of an encrypted notification (organization §14.1). */
  plaintext({ realm, userId }: PushRecipient, notice: PushNotice): object {
    const common = {
      realm_url: this.parts.realmUrls.urlOf(realm),
      realm_name: realm.name,
      user_id: userId,
      type: notice.type,
    };
    switch (notice.type) {
      case 'test':
        return { ...common, time: notice.time };
      case 'remove':
        return { ...common, message_ids: notice.messageIds };
      case 'message': {
        const { message, sender, conversation } = notice.view;
        const place =
          conversation.kind === 'channel'
            ? {
                recipient_type: 'channel',
                channel_id: conversation.channelId,
                channel_name: conversation.name,
                topic: notice.topic,
              }
            : { recipient_type: 'direct', recipient_user_ids: conversation.participants.map(({ id }) => id) };
        return fitting({
          ...common,
          message_id: message.id,
          time: message.sentAt,
          content: notice.text.content,
          sender_id: sender.id,
          sender_full_name: notice.senderName,
          sender_avatar_url: this.avatarOf(realm, notice),
          ...place,
          ...groupOf(notice),
        });
      }
    }
  }

  /** Data of a legacy Android notification; all values are strings (organization §14.3). */
  legacyFcm({ realm, userId }: PushRecipient, notice: PushNotice): Readonly<Record<string, string>> {
    const url = this.parts.realmUrls.urlOf(realm);
    const common = { server: new URL(url).host, realm_id: realm.id, ...this.legacyCommon({ realm, userId }) };
    return strings({ ...common, event: notice.type, ...this.legacyFcmOf(realm, notice) });
  }

  private legacyFcmOf(realm: Realm, notice: PushNotice): object {
    if (notice.type === 'test') return { time: notice.time };
    if (notice.type === 'remove') return { zulip_message_ids: notice.messageIds.join(',') };
    const { message } = notice.view;
    return {
      zulip_message_id: message.id,
      time: message.sentAt,
      content: this.legacyContent(realm, notice),
      sender_full_name: notice.senderName,
      sender_avatar_url: this.avatarOf(realm, notice),
      ...this.legacyMessage(realm, notice),
    };
  }

  /** Body of a legacy notification for Apple devices (organization §14.3). */
  legacyApns({ realm, userId }: PushRecipient, notice: PushNotice): object {
    const zulip = this.legacyCommon({ realm, userId });
    switch (notice.type) {
      case 'test': {
        const body = `This is a test notification from ${realm.name} (${zulip.realm_url}).`;
        const alert = { title: 'Test notification', body };
        return { aps: { alert, sound: 'default', badge: 0 }, zulip: { ...zulip, event: 'test' } };
      }
      case 'remove':
        return {
          aps: { badge: 0 },
          zulip: { ...zulip, event: 'remove', zulip_message_ids: notice.messageIds.join(',') },
        };
      case 'message': {
        const { title, subtitle } = notice.text;
        const alert = { title, subtitle, body: this.legacyContent(realm, notice) };
        return {
          aps: { alert, sound: 'default', badge: 0 },
          zulip: { ...zulip, ...this.legacyMessage(realm, notice), message_ids: [notice.view.message.id] },
        };
      }
    }
  }

  private legacyCommon({ realm, userId }: PushRecipient) {
    const url = this.parts.realmUrls.urlOf(realm);
    return { realm_uri: url, realm_url: url, realm_name: realm.name, user_id: userId };
  }

  private legacyMessage(realm: Realm, notice: MessageNotice): object {
    const { sender, conversation } = notice.view;
    const isEmailPublic = sender.emailVisibility === 'everyone' && !notice.isSenderHidden;
    const address = dummyAddress(sender.id, this.parts.realmUrls.emailDomainOf(realm));
    const from = { sender_id: sender.id, sender_email: isEmailPublic ? sender.email : address, ...groupOf(notice) };
    if (conversation.kind === 'channel') {
      const { name: stream, channelId: stream_id } = conversation;
      return { ...from, recipient_type: 'stream', stream, stream_id, topic: notice.topic };
    }
    const ids = conversation.participants.map(({ id }) => id);
    return { ...from, recipient_type: 'private', ...(ids.length > 2 && { pm_users: ids.join(',') }) };
  }

  private legacyContent({ settings }: Realm, { text }: MessageNotice): string {
    return settings.requireE2eePushNotifications ? 'New message' : text.content;
  }

  private avatarOf(realm: Realm, { view, isSenderHidden }: MessageNotice): string {
    return this.parts.avatarUrlOf(realm, isSenderHidden ? null : view.sender);
  }
}

/** Plaintext that fits into 4 KB after encryption, Base64 and surrounding fields (organization §18). */
const MAX_PLAINTEXT_BYTES = 2800;

/** Truncates the content if the text is too long for a notification. */
function fitting<T extends { readonly content: string }>(payload: T): T {
  const excess = Buffer.byteLength(JSON.stringify(payload)) - MAX_PLAINTEXT_BYTES;
  if (excess <= 0) return payload;
  const bytes = Buffer.from(payload.content);
  const kept = bytes.subarray(0, Math.max(0, bytes.length - excess - '…'.length * 3));
  // Decoding replaces a partial character at the end.
  return { ...payload, content: `${kept.toString('utf8').replace(/\uFFFD+$/, '')}…` };
}

const groupOf = ({ group }: MessageNotice) =>
  group && { mentioned_user_group_id: group.id, mentioned_user_group_name: group.name };

const strings = (fields: object): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));

/** Fields that reach the device, in addition to the push service's own (organization §14.2). */
export interface SealedPayload {
  readonly push_key_id: number;
  readonly encrypted_data: string;
}

/** Request for one device (organization §14.2, §17). */
export function pushRequest({ tokenId, tokenKind }: ActiveDevice, sealed: SealedPayload, isRemoval: boolean) {
  if (tokenKind === 'fcm') {
    return { token_id: tokenId, fcm_priority: isRemoval ? 'normal' : 'high', payload: { ...sealed } };
  }
  const headers = isRemoval
    ? { apns_priority: 5, apns_push_type: 'background' }
    : { apns_priority: 10, apns_push_type: 'alert' };
  const aps = { 'mutable-content': 1, alert: { title: 'New notification' } };
  return { token_id: tokenId, http_headers: headers, payload: { ...sealed, aps } };
}
