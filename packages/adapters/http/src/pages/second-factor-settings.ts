import type { UserId } from '@parley/domain/kernel';
import { DomainError } from '@parley/domain/kernel';
import {
  type AddedFactor,
  AddPasskey,
  type AppOffer,
  ClearSecondFactors,
  ConfirmApp,
  GetSecondFactors,
  type ManagedFactors,
  OfferApp,
  OfferPasskey,
  ProvePassword,
  RemoveSecondFactor,
  RenewRecoveryCodes,
} from '@parley/domain/log-in';
import { hasSecondFactor, MAX_PASSKEY_NAME_LENGTH } from '@parley/domain/users';
import type { Route } from '../declarations/route.js';
import { route } from '../declarations/route.js';
import { MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { IntegerParam, TextParam } from '../params/params.js';
import type { Reply } from '../wire/reply.js';
import { type Html, html } from './html.js';
import {
  errorPage,
  type Failure,
  failureOf,
  fieldState,
  type PageParts,
  pageReply,
  pageRoute,
  redirectTo,
  type Site,
  seeOther,
} from './layout.js';
import { pageScriptOf } from './page-script.js';
import {
  browserOf,
  keyOf,
  MAX_PASSKEY_LENGTH,
  markBrowser,
  passkeyForm,
  StateDto,
  stateField,
} from './second-factor-log-in.js';

const PATH = '/accounts/second-factor/';

class PasswordDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) password = '';
}

class AppDto extends StateDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) token = '';
  @TextParam({ max: MAX_TOKEN_LENGTH }) code = '';
}

class NewPasskeyDto extends StateDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) name = '';
  @TextParam({ max: MAX_PASSKEY_LENGTH }) passkey = '';
}

/** `id`: passkey id; empty for the authenticator app. */
class RemovalDto extends StateDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) id = '';
}

class OwnerDto {
  @IntegerParam() user_id!: number;
}

const pathOf = (path: string, { state }: StateDto): string => `${path}?${new URLSearchParams({ state })}`;

/** Pages for setting up and removing second factors, after confirming the password. */
export const secondFactorPages = (parts: PageParts): readonly Route[] => [
  ...overviewPages(parts),
  ...changePages(parts),
];

/** Overview, which requires the password again. */
const overviewPages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', PATH, {
    dto: StateDto,
    knowsCaller: true,
    useCase: GetSecondFactors,
    handle: async ({ site, realm, caller, request, identity, dto, useCase, resolve }) => {
      if (dto.state === '') {
        const isOwn = identity?.realmId === realm.id;
        return isOwn
          ? passwordForm(site)
          : seeOther(site, `/login/?${new URLSearchParams({ next: site.base + PATH })}`);
      }
      const key = keyOf(request, dto);
      const factors = await useCase.execute(caller, key);
      return overview(site, dto, factors, await resolve(OfferPasskey).execute(caller, key));
    },
  }),
  pageRoute(parts, 'POST', PATH, {
    dto: PasswordDto,
    knowsCaller: true,
    isExpensive: true,
    useCase: ProvePassword,
    handle: async ({ site, realm, caller: { clientName }, request, identity, dto: { password }, useCase }) => {
      if (identity?.realmId !== realm.id) return seeOther(site, '/login/');
      const browser = browserOf(request);
      const who = { realmId: realm.id, userId: identity.userId, clientName };
      try {
        const state = await useCase.execute(who, { password, browser, cancellation: request.signal });
        return redirectTo(site.base + pathOf(PATH, { state }), markBrowser(parts, request, browser));
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        if (error.is('NO_PASSWORD')) return errorPage(site, failureOf(error));
        const logIn = { method: 'password', account: String(identity.userId), failure: error.code };
        return { ...passwordForm(site, failureOf(error)), logIn };
      }
    },
  }),
];

/** Pages that add, renew or remove a factor. */
const changePages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', `${PATH}app/`, {
    dto: StateDto,
    useCase: OfferApp,
    handle: async ({ site, caller, request, dto, useCase }) =>
      appPage(site, dto, await useCase.execute(caller, keyOf(request, dto))),
  }),
  pageRoute(parts, 'POST', `${PATH}app/`, {
    dto: AppDto,
    useCase: ConfirmApp,
    handle: async ({ site, caller, request, dto, useCase, resolve }) => {
      const { token, code } = dto;
      const key = keyOf(request, dto);
      try {
        return addedPage(site, dto, 'app', await useCase.execute(caller, { ...key, token, code }));
      } catch (error) {
        if (!(error instanceof DomainError && error.is('WRONG_SECOND_FACTOR'))) throw error;
        return appPage(site, dto, await resolve(OfferApp).execute(caller, { ...key, token }), failureOf(error));
      }
    },
  }),
  pageRoute(parts, 'POST', `${PATH}passkey/`, {
    dto: NewPasskeyDto,
    useCase: AddPasskey,
    handle: async ({ site, caller, request, dto, useCase }) => {
      const { passkey: response, name } = dto;
      const input = { ...keyOf(request, dto), response, name };
      return addedPage(site, dto, 'passkey', await useCase.execute(caller, input));
    },
  }),
  pageRoute(parts, 'POST', `${PATH}recovery/`, {
    dto: StateDto,
    useCase: RenewRecoveryCodes,
    handle: async ({ site, caller, request, dto, useCase }) =>
      addedPage(site, dto, 'recovery', await useCase.execute(caller, keyOf(request, dto))),
  }),
  pageRoute(parts, 'POST', `${PATH}remove/`, {
    dto: RemovalDto,
    useCase: RemoveSecondFactor,
    handle: async ({ site, caller, request, dto, useCase }) => {
      const passkeyId = dto.id === '' ? null : dto.id;
      const { email: account } = await useCase.execute(caller, { ...keyOf(request, dto), passkeyId });
      const method = passkeyId === null ? 'app' : 'passkey';
      return { ...seeOther(site, pathOf(PATH, dto)), logInChange: { account, method, change: 'removed' } };
    },
  }),
];

/** Lets administrators help users who have lost their devices (protocol §7.7). */
export const secondFactorRoutes: readonly Route[] = [
  route('DELETE', '/users/:user_id/second_factors', {
    summary: 'Remove the second factors of a user who has lost them',
    extension: 'extensions §6',
    auth: 'user',
    scope: 'account',
    dto: OwnerDto,
    useCase: ClearSecondFactors,
    toInput: ({ user_id }) => user_id as UserId,
  }),
];

const passwordForm = (site: Site, failure: Failure | null = null): Reply =>
  pageReply({
    failure,
    title: site.t('Second factor'),
    site,
    content: html`<p>${site.t('Enter your password again to see and change how you log in.')}</p>
<form method="post" action="${site.base}${PATH}">
<p><label for="password">${site.t('Password')}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${fieldState(failure)}></p>
<p><button>${site.t('Continue')}</button></p>
</form>`,
  });

function overview(site: Site, dto: StateDto, managed: ManagedFactors, options: object): Reply {
  const { t, base } = site;
  const { factors, isRequired, isLogIn } = managed;
  const { app, passkeys, recoveryCodes } = factors;
  const isOn = hasSecondFactor(factors);
  const removal = (id: string) => html`<form method="post" action="${base}${PATH}remove/">
${stateField(dto)}<input type="hidden" name="id" value="${id}"><button class="other">${t('Remove')}</button></form>`;
  return pageReply({
    title: t('Second factor'),
    site,
    script: pageScriptOf(site),
    content: html`<p>${
      isOn
        ? t('After your password, {name} asks for one of these:', { name: site.name })
        : isRequired
          ? t('{name} requires a second factor for your account. Choose one to continue.', { name: site.name })
          : t('A second factor protects your account even if somebody learns your password.')
    }</p>
${
  isOn &&
  html`<ul class="factors">
${app && html`<li>${t('Authenticator app')} ${removal('')}</li>`}
${passkeys.map(({ id, name }) => html`<li>${t('Passkey')}: ${name} ${removal(id)}</li>`)}
<li>${t('Recovery codes left: {count}', { count: recoveryCodes })}
<form method="post" action="${base}${PATH}recovery/">${stateField(dto)}<button class="other">${t('Make new ones')}</button></form></li>
</ul>`
}${isLogIn && isOn && continueForm(site, dto)}
<h2>${t('Authenticator app')}</h2>
<p>${t('An app on your phone shows a new code every 30 seconds.')}</p>
<p><a class="button wide${isOn && html` other`}" href="${base}${pathOf(`${PATH}app/`, dto)}">${
      app ? t('Replace the app') : t('Set up an app')
    }</a></p>
<h2>${t('Passkey')}</h2>
<p>${t('A passkey is your device itself, a security key or a password manager. It also logs you in without a password.')}</p>
${passkeyForm(site, {
  action: `${PATH}passkey/`,
  kind: 'create',
  state: dto.state,
  options,
  label: 'Add a passkey',
  isSecondary: true,
  content: html`<p><label for="name">${t('Name of the passkey')}</label>
<input id="name" name="name" maxlength="${MAX_PASSKEY_NAME_LENGTH}" autocomplete="off" value="${t('Passkey')}"></p>
`,
})}${
  !isLogIn &&
  html`
<p><a href="${base}/accounts/sessions/">${t('Where you are logged in')}</a></p>
<p><a href="${base}/">${t('Go to the start page')}</a></p>`
}`,
  });
}

const continueForm = (
  { base, t }: Site,
  dto: StateDto,
): Html => html`<form method="post" action="${base}/login/second-factor/">
${stateField(dto)}
<p><button class="wide">${t('Continue')}</button></p>
</form>`;

/** Draws the dark squares of a QR code with the margin that scanners need. */
function qrCode(rows: AppOffer['picture']): Html {
  const squares = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])));
  const size = rows.length;
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" width="240" height="240" shape-rendering="crispEdges" role="img" aria-labelledby="qr"><title id="qr">QR code</title><path d="${squares.join('')}"/></svg>`;
}

const appPage = (
  site: Site,
  dto: StateDto,
  { token, secret, picture }: AppOffer,
  failure: Failure | null = null,
): Reply =>
  pageReply({
    failure,
    title: site.t('Set up an app'),
    site,
    content: html`<p>${site.t(
      'Scan this picture with an authenticator app, such as Aegis, Google Authenticator or your password manager.',
    )}</p>
${qrCode(picture)}
<p>${site.t('Or type this key into the app:')} <code class="code">${secret.match(/.{1,4}/g)!.join(' ')}</code></p>
<form method="post" action="${site.base}${PATH}app/">
${stateField(dto)}<input type="hidden" name="token" value="${token}">
<p><label for="code">${site.t('Code that the app shows')}</label>
<input id="code" name="code" class="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" maxlength="10" required${fieldState(failure)}></p>
<p><button class="wide">${site.t('Confirm')}</button></p>
</form>`,
  });

/** Shows recovery codes, which are never shown again. */
function addedPage(
  site: Site,
  dto: StateDto,
  method: 'app' | 'passkey' | 'recovery',
  { user, recoveryCodes, isLogIn }: AddedFactor,
): Reply {
  const { t, base } = site;
  const back = html`<p><a class="button wide" href="${base}${pathOf(PATH, dto)}">${t('Done')}</a></p>`;
  const page = pageReply({
    title: t('Second factor is on'),
    site,
    content: html`${
      recoveryCodes &&
      html`<p>${t('Save these recovery codes outside this device. Each logs you in once if you lose your second factor. They are not shown again.')}</p>
<ul class="codes">${recoveryCodes.map((code) => html`<li><code>${code}</code></li>`)}</ul>`
    }${isLogIn ? continueForm(site, dto) : back}`,
  });
  const change = method === 'recovery' ? 'replaced' : 'added';
  return { ...page, logInChange: { account: user.email, method, change } };
}
