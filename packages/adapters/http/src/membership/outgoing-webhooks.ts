import { parseJson, type RealmUrls } from '@parley/domain/kernel';
import type {
  WebhookDelivery,
  WebhookFormats,
  WebhookInterface,
  WebhookReply,
  WebhookRequest,
} from '@parley/domain/membership';
import { publicAddress, seesEmailOf } from '@parley/domain/users';
import type { BotTrigger } from '@parley/domain/writing';
import type { MessagePart } from '../delivery/event-presenter.js';
import { publicRealmOf } from '../delivery/public-realm.js';
import { presentMessage } from '../messages/message.presenters.js';
import { UNKNOWN_USER_NAME } from '../users/user.presenters.js';
import { variantByKey } from '../wire/request.js';

const TRIGGERS: Readonly<Record<BotTrigger, string>> = { mention: 'mention', directMessage: 'direct_message' };

/** Requests to outgoing webhooks and their replies (organization §19). */
export class WireWebhookFormats implements WebhookFormats {
  constructor(
    private readonly realmUrls: RealmUrls,
    private readonly messageParts: MessagePart,
  ) {}

  requestOf(delivery: WebhookDelivery): WebhookRequest {
    return delivery.webhook.interface === 'slack' ? this.slackForm(delivery) : this.json(delivery);
  }

  /** Returns the reply, null for no reply, or the contract's error message for an invalid response. */
  replyOf(kind: WebhookInterface, text: string): WebhookReply | string | null {
    if (text.trim() === '') return null;
    let value: unknown;
    try {
      value = parseJson(text);
    } catch {
      return 'Invalid JSON in response';
    }
    if (value === '') return null;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'Invalid response format';
    const fields = value as Readonly<Record<string, unknown>>;
    if (fields.response_not_required === true) return null;
    const content = kind === 'slack' ? fields.text : (fields.response_string ?? fields.content);
    if (content === undefined || content === null || String(content).trim() === '') return null;
    if (typeof content === 'object') return 'Invalid response format';
    const widget = kind === 'slack' ? undefined : fields.widget_content;
    return {
      content: String(content),
      widget: widget === undefined ? null : typeof widget === 'string' ? widget : JSON.stringify(widget),
    };
  }

  private json({ realm, bot, viewer, webhook, trigger, view, isSenderVisible }: WebhookDelivery): WebhookRequest {
    const publicRealm = publicRealmOf(realm, this.realmUrls);
    const message = presentMessage(view, publicRealm, {
      asHtml: false,
      clientGravatar: false,
      withExternalIds: true,
      seesSenderEmail: seesEmailOf(viewer, view.sender),
      hidesSender: !isSenderVisible,
      allowEmptyTopicName: false,
      client: variantByKey('standard'),
      editHistory: realm.settings.messageEditHistoryVisibilityPolicy,
      parts: this.messageParts,
    });
    const body = {
      bot_email: publicAddress(bot, publicRealm.emailDomain),
      bot_full_name: bot.fullName,
      data: view.message.content,
      trigger: TRIGGERS[trigger],
      token: webhook.token,
      message: { ...message, rendered_content: view.message.renderedContent },
    };
    return { contentType: 'application/json', body: JSON.stringify(body) };
  }

  /** Fields of Slack's outgoing webhooks, for channel messages. */
  private slackForm({ realm, bot, webhook, trigger, view, isSenderVisible }: WebhookDelivery): WebhookRequest {
    const { message, sender, conversation } = view;
    const [channelId, name] = conversation.kind === 'channel' ? [conversation.channelId, conversation.name] : [0, ''];
    const body = new URLSearchParams({
      token: webhook.token,
      team_id: `T${realm.id}`,
      team_domain: new URL(this.realmUrls.urlOf(realm)).host,
      channel_id: `C${channelId}`,
      channel_name: name,
      thread_ts: String(message.id),
      timestamp: String(message.sentAt),
      user_id: `U${sender.id}`,
      user_name: isSenderVisible ? sender.fullName : UNKNOWN_USER_NAME,
      text: message.content,
      trigger_word: TRIGGERS[trigger],
      service_id: String(bot.id),
    });
    return { contentType: 'application/x-www-form-urlencoded', body: body.toString() };
  }
}
