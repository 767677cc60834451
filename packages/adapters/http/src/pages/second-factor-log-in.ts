import { randomBytes } from 'node:crypto';
import { DomainError } from '@parley/domain/kernel';
import {
  BeginPasskeyLogIn,
  GetSecondStep,
  LOG_IN_SECONDS,
  LogInByPasskey,
  SET_UP_SECONDS,
  type SecondFactorProof,
  type SecondStepForm,
  TakeSecondStep,
} from '@parley/domain/log-in';
import type { Route } from '../declarations/route.js';
import { MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { TextParam } from '../params/params.js';
import { LOG_IN_COOKIE, MAX_SEALED_LENGTH, readCookie } from '../security/authenticate.js';
import type { Reply } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { audited, LogInPurposeDto, purposeOf, replyToLogIn } from './external-log-in.js';
import { type Html, html } from './html.js';
import { type Failure, failureOf, fieldState, type PageParts, pageReply, pageRoute, type Site } from './layout.js';
import { pageScriptOf } from './page-script.js';
import type { PageText } from './page-texts.js';

/** Passkey responses take up to two kilobytes, or four with long keys. */
export const MAX_PASSKEY_LENGTH = 16_000;

export class StateDto {
  @TextParam({ max: MAX_SEALED_LENGTH }) state = '';
}

class ProofDto extends StateDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) code = '';
  @TextParam({ max: MAX_TOKEN_LENGTH }) recovery_code = '';
  @TextParam({ max: MAX_PASSKEY_LENGTH }) passkey = '';
}

class PasskeyDto extends StateDto {
  @TextParam({ max: MAX_PASSKEY_LENGTH }) passkey = '';
}

export const browserOf = (request: Request): string =>
  readCookie(request, LOG_IN_COOKIE) ?? randomBytes(32).toString('base64url');

/** Marks the browser for the maximum duration of a step. */
export const markBrowser = ({ sessionCookies }: PageParts, request: Request, browser: string): readonly string[] =>
  sessionCookies.logIn(request, browser, Math.max(SET_UP_SECONDS, LOG_IN_SECONDS));

export const keyOf = (request: Request, { state }: StateDto) => ({
  state,
  browser: readCookie(request, LOG_IN_COOKIE) ?? null,
});

function proofIn({ code, recovery_code, passkey }: ProofDto): SecondFactorProof {
  if (passkey !== '') return { kind: 'passkey', response: passkey };
  if (recovery_code !== '') return { kind: 'recovery', code: recovery_code };
  return code === '' ? { kind: 'none' } : { kind: 'app', code };
}

const userAgentOf = (request: Request): string => request.header('user-agent') ?? '';

/** Pages for the second step of a password log-in, and for log-in by passkey alone. */
export const secondFactorLogInPages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/login/second-factor/', {
    dto: StateDto,
    useCase: GetSecondStep,
    handle: ({ site, caller, request, dto, useCase }) =>
      audited(site, 'password', async () => stepPage(site, dto, await useCase.execute(caller, keyOf(request, dto)))),
  }),
  pageRoute(parts, 'POST', '/login/second-factor/', {
    dto: ProofDto,
    useCase: TakeSecondStep,
    handle: ({ site, caller, request, dto, useCase, resolve }) =>
      audited(site, 'password', async () => {
        const key = keyOf(request, dto);
        const form = await resolve(GetSecondStep).execute(caller, key);
        const proof = proofIn(dto);
        const logIn = {
          method: proof.kind === 'none' ? 'password' : `password and ${proof.kind}`,
          account: form.user.email,
        };
        try {
          const { user, result } = await useCase.execute(caller, { ...key, proof, userAgent: userAgentOf(request) });
          return { ...replyToLogIn(parts, { site, request }, user, result), logIn: { ...logIn, failure: null } };
        } catch (error) {
          if (!(error instanceof DomainError)) throw error;
          return { ...stepPage(site, dto, form, failureOf(error)), logIn: { ...logIn, failure: error.code } };
        }
      }),
  }),
  pageRoute(parts, 'GET', '/login/passkey/', {
    dto: LogInPurposeDto,
    useCase: BeginPasskeyLogIn,
    handle: async ({ site, caller, request, dto, useCase }) => {
      const browser = browserOf(request);
      const { state, options } = await useCase.execute(caller, { purpose: purposeOf(dto), browser });
      return pageReply({
        title: site.t('Log in with a passkey'),
        site,
        script: pageScriptOf(site),
        headers: markBrowser(parts, request, browser),
        content: html`<p>${site.t('Your device asks for your fingerprint, your face or its PIN.')}</p>
${passkeyForm(site, { action: '/login/passkey/', kind: 'get', state, options, label: 'Continue with a passkey' })}
<p><a href="${site.base}/login/">${site.t('Log in another way')}</a></p>`,
      });
    },
  }),
  pageRoute(parts, 'POST', '/login/passkey/', {
    dto: PasskeyDto,
    useCase: LogInByPasskey,
    handle: ({ site, caller, request, dto, useCase }) =>
      audited(site, 'passkey', async (identified) => {
        const input = { ...keyOf(request, dto), response: dto.passkey, userAgent: userAgentOf(request), identified };
        const { user, result } = await useCase.execute(caller, input);
        const logIn = { method: 'passkey', account: user.email, failure: null };
        return { ...replyToLogIn(parts, { site, request }, user, result), logIn };
      }),
  }),
];

export const stateField = ({ state }: StateDto): Html => html`<input type="hidden" name="state" value="${state}">`;

interface PasskeyForm extends StateDto {
  readonly action: string;
  readonly kind: 'create' | 'get';
  readonly options: object;
  readonly label: PageText;
  readonly content?: Html;
  readonly isSecondary?: boolean;
}

/** Form that the page's script enables, and submits with a passkey response. */
export const passkeyForm = (
  { base, t }: Site,
  { action, kind, state, options, label, content, isSecondary = false }: PasskeyForm,
): Html => html`<form method="post" action="${base}${action}" data-passkey="${kind}" data-options="${JSON.stringify(options)}">
${stateField({ state })}<input type="hidden" name="passkey" value="">
${content ?? null}<p data-problem hidden role="alert" class="alert">${t('The passkey could not be used. Try again.')}</p>
<p data-missing hidden class="hint">${t('This browser cannot use passkeys here.')}</p>
<noscript><p class="hint">${t('Passkeys need scripts, which are turned off in this browser.')}</p></noscript>
<p><button disabled class="${isSecondary ? 'wide other' : 'wide'}">${t(label)}</button></p>
</form>
`;

type StepDto = StateDto & Partial<Pick<ProofDto, 'recovery_code'>>;

function stepPage(
  site: Site,
  { state, recovery_code = '' }: StepDto,
  form: SecondStepForm,
  failure: Failure | null = null,
): Reply {
  const { t, base } = site;
  const { asksForProof, hasApp, passkeys } = form;
  const action = `${base}/login/second-factor/`;
  const isRecovery = failure !== null && recovery_code !== '';
  const codeForm = html`<form method="post" action="${action}">
${stateField({ state })}
<p><label for="code">${t('Code')}</label>
<input id="code" name="code" class="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" maxlength="10" required${fieldState(isRecovery ? null : failure)}></p>
<p class="hint">${t('Your authenticator app shows six digits for this account. Each code is good once.')}</p>
<p><button class="wide">${t('Log in')}</button></p>
</form>
`;
  const recoveryForm = html`<details${isRecovery && html` open`}>
<summary>${t('Lost your device?')}</summary>
<form method="post" action="${action}">
${stateField({ state })}
<p><label for="recovery">${t('Recovery code')}</label>
<input id="recovery" name="recovery_code" class="code" autocomplete="off" autocapitalize="none" spellcheck="false" required${fieldState(isRecovery ? failure : null)}></p>
<p class="hint">${t('Use one of the codes that you saved. Without any, ask an administrator to remove your second factor.')}</p>
<p><button>${t('Use a recovery code')}</button></p>
</form>
</details>`;
  const continueForm = html`<form method="post" action="${action}">
${stateField({ state })}
<p><button class="wide"${failure && fieldState(failure)}>${t('Continue')}</button></p>
</form>`;
  return pageReply({
    failure,
    title: t('Confirm that it is you'),
    site,
    ...(passkeys && { script: pageScriptOf(site) }),
    content: asksForProof
      ? html`${hasApp && codeForm}${hasApp && passkeys && html`<p class="or">${t('or')}</p>`}${
          passkeys &&
          passkeyForm(site, {
            action: '/login/second-factor/',
            kind: 'get',
            state,
            options: passkeys,
            label: 'Continue with a passkey',
            isSecondary: hasApp,
          })
        }${recoveryForm}`
      : continueForm,
  });
}
