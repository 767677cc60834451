import { EVENT_WRITER, WireWebhookFormats, ZULIP_VERSION } from '@parley/http';
import {
  BigBlueButton,
  type BigBlueButtonAccount,
  HmacMeetingLinks,
  PublicWebClient,
  WebLinkPreviewFetcher,
} from '@parley/node-adapters';
import { Adapter } from '../adapter.js';

export interface WebOptions {
  /** Private networks that outgoing webhooks and profile picture downloads may access; default: none. */
  readonly webhookNetworks?: readonly string[];
  /** BigBlueButton server for calls; default: none. */
  readonly bigBlueButton?: BigBlueButtonAccount | null;
}

/** Maximum time for a linked page or its picture, with all redirects. */
const PAGE_TIMEOUT_MS = 5000;

/** Requests to other servers: webhooks, linked pages, pictures and calls. */
export const web = ({ webhookNetworks: allowedNetworks = [], bigBlueButton }: WebOptions) =>
  new Adapter({
    webhookClient: () => new PublicWebClient({ allowedNetworks, userAgent: `ZulipOutgoingWebhook/${ZULIP_VERSION}` }),
    webhookFormats: ({ get }) => new WireWebhookFormats(get('realmUrls'), EVENT_WRITER.messageParts),
    pageClient: () =>
      new PublicWebClient({
        allowedNetworks,
        userAgent: 'Mozilla/5.0 (compatible; ParleyLinkPreview)',
        timeoutMs: PAGE_TIMEOUT_MS,
      }),
    linkPreviewFetcher: ({ get }) => new WebLinkPreviewFetcher(get('pageClient'), get('clock')),
    pictureDownloads: () => new PublicWebClient({ allowedNetworks, userAgent: 'Parley' }),
    meetingLinks: ({ get }) => new HmacMeetingLinks(get('secret')),
    meetingServer: () => (bigBlueButton ? new BigBlueButton(bigBlueButton) : null),
  });
