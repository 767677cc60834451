import { DomainError, type RealmUrls } from '@parley/domain/kernel';
import {
  type ActiveDevice,
  openRegistration,
  type PendingRegistration,
  type PhonePush,
  type PhoneRequest,
  type PhoneSender,
  type PushDelivery,
  type PushNotice,
  type PushRecipient,
  type PushService,
  type PushStatus,
  type PushToken,
  type RegistrationError,
  type RegistrationKeys,
  sendToPhones,
} from '@parley/domain/push';
import type { Realm } from '@parley/domain/realms';
import {
  type ApnsAccount,
  ApnsSender,
  type FcmAccount,
  FcmSender,
  type PhoneSenderParts,
  PhoneSenders,
} from './phone-senders.js';
import { sealFor, tokenIdOf } from './push.js';
import { type AvatarUrlOf, PushPayloads, pushRequest } from './push-payloads.js';
import { SealedBoxes } from './registration-keys.js';

/** Accounts of an operator with a custom build of the app. */
export interface DirectPush {
  /** Base64 private keys for the tokens encrypted by apps; several during rotation. */
  readonly keys: readonly string[];
  /** Null without an app for Apple devices. */
  readonly apns: ApnsAccount | null;
  readonly fcm: FcmAccount | null;
}

export const phoneSenderOf = ({ apns, fcm }: Pick<DirectPush, 'apns' | 'fcm'>, parts: PhoneSenderParts): PhoneSender =>
  new PhoneSenders({ apns: apns && new ApnsSender(apns, parts), fcm: fcm && new FcmSender(fcm, parts) });

interface DirectPushParts extends PhoneSenderParts {
  readonly account: DirectPush;
  readonly realmUrls: RealmUrls;
  readonly avatarUrlOf: AvatarUrlOf;
}

/**
 * Sends notifications directly to Apple's and Google's services, without a separate push service (organization §18).
 * Stores no tokens: device registrations are decrypted for each notification.
 */
export class DirectPushService implements PushService {
  private readonly keys: RegistrationKeys;
  private readonly sender: PhoneSender;
  private readonly payloads: PushPayloads;

  constructor(private readonly parts: DirectPushParts) {
    this.keys = new SealedBoxes(parts.account.keys);
    this.sender = phoneSenderOf(parts.account, parts);
    this.payloads = new PushPayloads(parts);
  }

  tokenIdOf(token: string): string {
    return tokenIdOf(token);
  }

  async registerEncrypted(_realm: Realm, registration: PendingRegistration): Promise<RegistrationError | null> {
    const opened = openRegistration(this.keys, registration, this.parts.clock.now());
    return typeof opened === 'string' ? opened : null;
  }

  async registerToken(): Promise<void> {}
  async unregisterToken(): Promise<void> {}

  async sendTest(to: PushRecipient, token: PushToken): Promise<void> {
    const { goneTokens } = await this.sendLegacy(to, [token], { type: 'test', time: this.parts.clock.now() });
    if (goneTokens.length === 0) return;
    throw new DomainError('PUSH_TOKEN_UNKNOWN_TO_SERVICE', 'Device not recognized by the push bouncer');
  }

  async sendEncrypted(to: PushRecipient, devices: readonly ActiveDevice[], notice: PushNotice): Promise<PushDelivery> {
    const text = JSON.stringify(this.payloads.plaintext(to, notice));
    const isRemoval = notice.type === 'remove';
    const requests: PhoneRequest<string>[] = [];
    const closed: string[] = [];
    for (const device of devices) {
      const token = device.registration ? openRegistration(this.keys, device.registration, null) : 'unknownPublicKey';
      // The app registers again with one of the current keys.
      if (typeof token === 'string') closed.push(device.tokenId);
      else requests.push({ target: device.tokenId, to: token, push: phonePushOf(device, text, isRemoval) });
    }
    const delivery = await this.deliver(requests);
    return { ...delivery, goneTokenIds: [...closed, ...delivery.gone.map(({ target }) => target)], goneTokens: [] };
  }

  async sendLegacy(to: PushRecipient, tokens: readonly PushToken[], notice: PushNotice): Promise<PushDelivery> {
    const isUrgent = notice.type !== 'remove';
    const payloads = { apns: this.payloads.legacyApns(to, notice), fcm: this.payloads.legacyFcm(to, notice) };
    const delivery = await this.deliver(
      tokens.map((token) => {
        const payload = payloads[token.kind] as PhonePush['payload'];
        return { target: tokenIdOf(token.token), to: token, push: { payload, isUrgent, isSilent: false } };
      }),
    );
    return { ...delivery, goneTokenIds: [], goneTokens: delivery.gone.map(({ to: token }) => token) };
  }

  async askAbout(realms: readonly Realm[]): Promise<ReadonlyMap<string, PushStatus>> {
    return new Map(realms.map(({ uuid }) => [uuid, { isEnabled: true, endsAt: null }]));
  }

  /** @throws DomainError if no phone was reached and some may be reachable later, or all services refuse */
  private async deliver(requests: readonly PhoneRequest<string>[]) {
    const { sent, gone, refused, unreached, reason } = await sendToPhones(this.sender, requests);
    if (sent.length === 0 && gone.length === 0) {
      if (unreached.length > 0) throw new DomainError('PUSH_SERVICE_UNREACHABLE', reason);
      if (refused.length > 0) throw new DomainError('PUSH_SERVICE_REFUSED', reason);
    }
    return { sent: sent.length, gone, unreached: unreached.map(({ target }) => target), status: null };
  }
}

function phonePushOf(device: ActiveDevice, text: string, isRemoval: boolean): PhonePush {
  const { payload } = pushRequest(device, sealFor(device, text), isRemoval);
  return { payload, isUrgent: !isRemoval, isSilent: isRemoval };
}
