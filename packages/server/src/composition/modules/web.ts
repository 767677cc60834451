import type { WebhookClient } from '@parley/domain/membership';
import { EVENT_WRITER, WireWebhookFormats, ZULIP_VERSION } from '@parley/http';
import {
  BigBlueButton,
  type BigBlueButtonAccount,
  HmacMeetingLinks,
  OutgoingProxy,
  type ProxySettings,
  PublicWebClient,
  WebLinkPreviewFetcher,
} from '@parley/node-adapters';
import { Adapter } from '../adapter.js';

export interface WebOptions {
  /** Private networks that outgoing webhooks and profile picture downloads may access; default: none. */
  readonly webhookNetworks?: readonly string[];
  /** Sends requests to outgoing webhooks and browsers; default: over the network. */
  readonly webhookClient?: WebhookClient;
  /** Proxies for outgoing calls; default: none. */
  readonly outgoingProxy?: ProxySettings;
  /** BigBlueButton server for calls; default: none. */
  readonly bigBlueButton?: BigBlueButtonAccount | null;
}

/** Maximum time for a linked page or its picture, with all redirects. */
const PAGE_TIMEOUT_MS = 5000;

/** Requests to other servers: webhooks, linked pages, pictures and calls. */
export const web = ({
  webhookNetworks: allowedNetworks = [],
  webhookClient,
  outgoingProxy,
  bigBlueButton,
}: WebOptions) =>
  new Adapter({
    outgoingProxy: () => new OutgoingProxy(outgoingProxy),
    webhookClient: ({ get }): WebhookClient =>
      webhookClient ??
      new PublicWebClient({
        allowedNetworks,
        proxy: get('outgoingProxy'),
        userAgent: `ZulipOutgoingWebhook/${ZULIP_VERSION}`,
      }),
    webhookFormats: ({ get }) => new WireWebhookFormats(get('realmUrls'), EVENT_WRITER.messageParts),
    pageClient: ({ get }) =>
      new PublicWebClient({
        allowedNetworks,
        proxy: get('outgoingProxy'),
        userAgent: 'Mozilla/5.0 (compatible; ParleyLinkPreview)',
        timeoutMs: PAGE_TIMEOUT_MS,
      }),
    linkPreviewFetcher: ({ get }) =>
      new WebLinkPreviewFetcher(get('pageClient'), get('externalPictures'), get('clock')),
    pictureDownloads: ({ get }) =>
      new PublicWebClient({ allowedNetworks, proxy: get('outgoingProxy'), userAgent: 'Parley' }),
    meetingLinks: ({ get }) => new HmacMeetingLinks(get('secret')),
    meetingServer: ({ get }) => (bigBlueButton ? new BigBlueButton(bigBlueButton, get('outgoingProxy')) : null),
  });
