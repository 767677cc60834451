import { BounceAwareMailer, type Mailer } from '@parley/domain/access';
import { noticeTexts } from '@parley/http';
import {
  CONFIRMATION_LINKS,
  createMailGateway,
  DeliverableMailer,
  HmacLinkKeys,
  INVITATION_LINKS,
  UNSUBSCRIBE_LINKS,
} from '@parley/node-adapters';
import type { IncomingMail } from '../../configuration/configuration.js';
import type { OwnNotifications } from '../../facade/parley-config.js';
import { Adapter } from '../adapter.js';
import type { DomainOptions } from './domain.js';

/** Ten days (organization §9.1). */
export const DEFAULT_INVITATION_VALIDITY_MINUTES = 14_400;

export interface MailOptions extends Pick<DomainOptions, 'mailGatewayPattern'> {
  readonly mailer: Mailer;
  /** True if emails are delivered instead of being written to a folder; default: true. */
  readonly sendsMail?: boolean;
  /** Default validity of invitations in minutes; default: ten days. */
  readonly invitationValidityMinutes?: number;
  /** Notifications sent by Parley itself; default: all configured kinds. */
  readonly notifications?: OwnNotifications;
  /** Ways to receive email; default: none. */
  readonly incomingMail?: Pick<IncomingMail, 'token' | 'maxBytes'> & { readonly smtp: object | null };
}

/** Email in both directions, and the keys in its links. */
export const mail = ({
  mailer,
  sendsMail = true,
  invitationValidityMinutes: defaultValidityMinutes = DEFAULT_INVITATION_VALIDITY_MINUTES,
  notifications,
  mailGatewayPattern: pattern,
  incomingMail,
}: MailOptions) =>
  new Adapter({
    mailer: ({ get }) => new DeliverableMailer(new BounceAwareMailer(mailer, get('unitOfWork'), get('clock'))),
    noticeTexts: () => noticeTexts,
    digestConfig: () => ({ sendsDigests: notifications?.email !== false && sendsMail }),
    invitationConfig: () => ({ defaultValidityMinutes, confirmsAddresses: sendsMail }),
    invitationKeys: ({ get }) => new HmacLinkKeys(get('secret'), INVITATION_LINKS),
    confirmationKeys: ({ get }) => new HmacLinkKeys(get('secret'), CONFIRMATION_LINKS),
    unsubscribeKeys: ({ get }) => new HmacLinkKeys(get('secret'), UNSUBSCRIBE_LINKS),
    signUpKeys: ({ get }) => ({ invitations: get('invitationKeys'), confirmations: get('confirmationKeys') }),
    mailGateway: ({ get }) => {
      if (!pattern || !incomingMail || (incomingMail.token === null && incomingMail.smtp === null)) return null;
      return createMailGateway({ ...incomingMail, pattern, secret: get('secret') });
    },
  });
