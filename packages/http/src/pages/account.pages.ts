import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '@parley/domain/access';
import { ConfirmEmailChange, GetConfirmation, RequestPasswordReset, ResetPassword } from '@parley/domain/membership';
import { MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../kernel/limits.js';
import { NoParameters, TextParam } from '../kernel/params.js';
import type { Reply } from '../kernel/reply.js';
import type { Route } from '../kernel/route.js';
import { type Html, html } from './html.js';
import { pageReply, type Site, seeOther } from './layout.js';
import { alert, errorPage, type Failure, type PageParts, pageRoute, submit } from './page-route.js';

class KeyDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) key!: string;
}

class EmailDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email = '';
}

class NewPasswordDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) key!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) password = '';
}

/** Another address, and another password, by links that were sent by mail (users §6.2, protocol §8.3). */
export const accountPages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/accounts/confirm_new_email/:key', {
    dto: KeyDto,
    useCase: GetConfirmation,
    handle: async ({ site, caller, dto: { key }, useCase }) => {
      const { confirmation } = await useCase.execute(caller, { purpose: 'emailChange', key });
      return pageReply({
        title: 'Confirm your new address',
        site,
        content: html`<p>The address of your account is to become <strong>${confirmation.email}</strong>. You will log in with
it, and mail will go there.</p>
<form method="post"><button>Confirm</button></form>`,
      });
    },
  }),
  pageRoute(parts, 'POST', '/accounts/confirm_new_email/:key', {
    dto: KeyDto,
    useCase: ConfirmEmailChange,
    handle: async ({ site, caller, dto, useCase }) => {
      const { user } = await useCase.execute(caller, dto);
      return pageReply({
        title: 'Your address has changed',
        site,
        content: html`<p>The address of your account is <strong>${user.email}</strong> from now on. Log in with it.</p>`,
      });
    },
  }),
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
        title: 'Look into your mail',
        site,
        content: html`<p>If there is an account with this address, a link for setting a new password is on its way to it. The link is
good for one day.</p>`,
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
        title: 'Your password has changed',
        site,
        content: html`<p>Log in with the new password from now on. API keys are as they were.</p>
<p><a href="${site.base}/login/">How to log in</a></p>`,
      }),
  }),
];

const NO_PASSWORDS: Failure = { status: 404, message: 'Nobody logs in to this organization with a password.' };

const requestForm = (site: Site, email = '', failure: Failure | null = null): Reply =>
  pageReply({
    status: failure?.status ?? 200,
    headers: failure?.headers ?? [],
    title: 'Set a new password',
    site,
    content: html`${alert(failure)}<form method="post">
<p><label for="email">Email address of your account</label>
<input id="email" name="email" type="email" autocomplete="username" required value="${email}"${describedBy(failure)}></p>
<p><button>Send a link</button></p>
</form>`,
  });

/** `email`: whose password it is, for programs that keep passwords. */
const passwordForm = (site: Site, email: string | null, failure: Failure | null = null): Reply =>
  pageReply({
    status: failure?.status ?? 200,
    headers: failure?.headers ?? [],
    title: 'Set a new password',
    site,
    content: html`${alert(failure)}<form method="post">
${
  email !== null &&
  html`<p><label for="email">Account</label>
<input id="email" type="email" autocomplete="username" readonly value="${email}"></p>
`
}${passwordField('New password', failure)}
<p><button>Set the password</button></p>
</form>`,
  });

/** A field is read out with what is wrong. */
export const describedBy = (failure: Failure | null): Html | null =>
  failure && html` aria-describedby="problem" aria-invalid="true"`;

export const passwordField = (
  label: string,
  failure: Failure | null,
): Html => html`<p><label for="password">${label}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${PASSWORD_MIN_LENGTH}" maxlength="${PASSWORD_MAX_LENGTH}"${describedBy(failure)}></p>
<p class="hint">At least ${PASSWORD_MIN_LENGTH} characters, and not easily guessed.</p>`;
