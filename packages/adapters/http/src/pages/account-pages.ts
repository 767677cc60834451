import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '@parley/domain/access';
import { ConfirmEmailChange, GetConfirmation, RequestPasswordReset, ResetPassword } from '@parley/domain/membership';
import type { Route } from '../declarations/route.js';
import { MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { NoParameters, TextParam } from '../params/params.js';
import type { Reply } from '../wire/reply.js';
import { type Html, html } from './html.js';
import {
  errorPage,
  type Failure,
  fieldState,
  type PageParts,
  pageReply,
  pageRoute,
  type Site,
  seeOther,
  submit,
} from './layout.js';
import type { PageText } from './page-texts.js';

class KeyDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) key!: string;
}

export class EmailDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email = '';
}

class NewPasswordDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) key!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) password = '';
}

/** Pages that change the email address or password through emailed links (users §6.2, protocol §8.3). */
export const accountPages = (parts: PageParts): readonly Route[] => [
  ...emailChangePages(parts),
  ...passwordResetPages(parts),
];

const emailChangePages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/accounts/confirm_new_email/:key', {
    dto: KeyDto,
    useCase: GetConfirmation,
    handle: async ({ site, caller, dto: { key }, useCase }) => {
      const { confirmation } = await useCase.execute(caller, { purpose: 'emailChange', key });
      return pageReply({
        title: site.t('Confirm your new address'),
        site,
        content: html`<p>${site.t('Confirm to use {email} for logging in and receiving email.', {
          email: html`<strong>${confirmation.email}</strong>`,
        })}</p>
<form method="post"><button>${site.t('Confirm')}</button></form>`,
      });
    },
  }),
  pageRoute(parts, 'POST', '/accounts/confirm_new_email/:key', {
    dto: KeyDto,
    useCase: ConfirmEmailChange,
    handle: async ({ site, caller, dto, useCase }) => {
      const { user } = await useCase.execute(caller, dto);
      return pageReply({
        title: site.t('Your address has changed'),
        site,
        content: html`<p>${site.t('The address of your account is now {email}. Use it to log in.', {
          email: html`<strong>${user.email}</strong>`,
        })}</p>`,
      });
    },
  }),
];

const passwordResetPages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/accounts/password/reset/', {
    dto: NoParameters,
    handle: async ({ site, realm }) =>
      realm.settings.emailAuthentication ? requestForm(site) : errorPage(site, NO_PASSWORDS),
  }),
  pageRoute(parts, 'POST', '/accounts/password/reset/', {
    dto: EmailDto,
    useCase: RequestPasswordReset,
    handle: ({ site, caller, dto, useCase }) =>
      submit(
        async () => {
          await useCase.execute(caller, dto);
          return seeOther(site, '/accounts/password/reset/done/');
        },
        (failure) => requestForm(site, dto.email, failure),
      ),
  }),
  pageRoute(parts, 'GET', '/accounts/password/reset/done/', {
    dto: NoParameters,
    handle: async ({ site }) =>
      pageReply({
        title: site.t('Check your email'),
        site,
        content: html`<p>${site.t(
          'If an account with this address exists, we have sent it a link to set a new password. The link expires after one day.',
        )}</p>`,
      }),
  }),
  pageRoute(parts, 'GET', '/accounts/password/reset/:key', {
    dto: KeyDto,
    useCase: GetConfirmation,
    handle: async ({ site, caller, dto: { key }, useCase }) => {
      const { confirmation } = await useCase.execute(caller, { purpose: 'passwordReset', key });
      return passwordForm(site, confirmation.email);
    },
  }),
  pageRoute(parts, 'POST', '/accounts/password/reset/:key', {
    dto: NewPasswordDto,
    isExpensive: true,
    useCase: ResetPassword,
    handle: ({ site, caller, request, dto, useCase }) =>
      submit(
        async () => {
          await useCase.execute(caller, { ...dto, cancellation: request.signal });
          return seeOther(site, '/accounts/password/done/');
        },
        (failure) => passwordForm(site, null, failure),
      ),
  }),
  pageRoute(parts, 'GET', '/accounts/password/done/', {
    dto: NoParameters,
    handle: async ({ site }) =>
      pageReply({
        title: site.t('Your password has changed'),
        site,
        content: html`<p>${site.t('Use the new password to log in. Your API keys have not changed.')}</p>
<p><a class="button" href="${site.base}/login/">${site.t('Log in')}</a></p>`,
      }),
  }),
];

export const NO_PASSWORDS: Failure = { status: 404, message: 'This organization does not use passwords.' };

const requestForm = (site: Site, email = '', failure: Failure | null = null): Reply =>
  pageReply({
    failure,
    title: site.t('Set a new password'),
    site,
    content: html`<form method="post">
<p><label for="email">${site.t('Email address of your account')}</label>
<input id="email" name="email" type="email" autocomplete="username" required value="${email}"${fieldState(failure)}></p>
<p><button>${site.t('Send a link')}</button></p>
</form>`,
  });

/** @param email account of the password, for password managers */
const passwordForm = (site: Site, email: string | null, failure: Failure | null = null): Reply =>
  pageReply({
    failure,
    title: site.t('Set a new password'),
    site,
    content: html`<form method="post">
${
  email !== null &&
  html`<p><label for="email">${site.t('Account')}</label>
<input id="email" type="email" autocomplete="username" readonly value="${email}"></p>
`
}${passwordField(site, 'New password', failure)}
<p><button>${site.t('Set the password')}</button></p>
</form>`,
  });

export const passwordField = (
  { t }: Site,
  label: PageText,
  failure: Failure | null,
): Html => html`<p><label for="password">${t(label)}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${PASSWORD_MIN_LENGTH}" maxlength="${PASSWORD_MAX_LENGTH}"${fieldState(failure)}></p>
<p class="hint">${t('At least {count} characters, and not easily guessed.', { count: PASSWORD_MIN_LENGTH })}</p>`;
