import { type DefaultChannelGroupId, DomainError } from '@parley/domain/kernel';
import { admitsStrangers, ListLogInMethods } from '@parley/domain/log-in';
import { GetSignUp, JoinRealm, RequestSignUp, type SignUpForm } from '@parley/domain/membership';
import { isEmailAddress, OpenSession } from '@parley/domain/users';
import type { Route } from '../declarations/route.js';
import { MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { IntegerOneOfParam, NoParameters, TextParam } from '../params/params.js';
import { usesDirectory } from '../realms/server-settings.js';
import { toEmailVisibility, USER_SETTING_FORMS } from '../users/user-settings.js';
import type { Reply } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { EmailDto, NO_PASSWORDS, passwordField } from './account-pages.js';
import { isService, serviceButtons } from './external-log-in.js';
import { type Html, html } from './html.js';
import {
  errorPage,
  type Failure,
  fieldState,
  isBrokenLink,
  type PageParts,
  pageReply,
  pageRoute,
  type Site,
  seeOther,
  submit,
  type Visit,
} from './layout.js';
import { connecting } from './log-in-page.js';
import type { PageText } from './page-texts.js';

class SignUpKeyDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) key!: string;
}

class LinkDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) key!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) email = '';
}

/** Forms send empty fields as empty text. */
class RegistrationDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) key!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) email = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) full_name = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) password = '';
  @IntegerOneOfParam([1, 2, 3, 4, 5], { optional: true }) email_address_visibility?: number;
  @TextParam({ max: MAX_TOKEN_LENGTH }) timezone = '';
}

/** Pages for joining by invitation link, by email, or freely in open organizations (organization §10.1). */
export const signUpPages = (parts: PageParts): readonly Route[] => [
  ...signUpRequestPages(parts),
  ...registrationPages(parts),
];

/** Pages where people ask for the link to join. */
const signUpRequestPages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/join/:key/', {
    dto: SignUpKeyDto,
    useCase: GetSignUp,
    handle: async (visit) => {
      const { site, realm, caller, dto, useCase } = visit;
      try {
        const { email } = await useCase.execute(caller, dto);
        // Email invitations have a separate page.
        if (email === null) {
          const services = await servicesFor(visit, dto.key);
          if (!realm.settings.emailAuthentication) return servicePage(parts, visit, services);
          return emailForm(site, '', null, services);
        }
        return seeOther(site, `/accounts/do_confirm/${encodeURIComponent(dto.key)}`);
      } catch (error) {
        if (isBrokenLink(error) && !realm.settings.inviteRequired) return seeOther(site, '/register/');
        throw error;
      }
    },
  }),
  pageRoute(parts, 'POST', '/join/:key/', {
    dto: LinkDto,
    useCase: RequestSignUp,
    handle: ({ site, caller, dto: { key, email }, useCase }) =>
      submit(
        () =>
          orLogIn(site, email, async () => {
            const request = await useCase.execute(caller, { key, email });
            if (request.isSent) return seeOther(site, withEmail('/accounts/send_confirm/', request.email));
            return seeOther(site, withEmail(`/accounts/do_confirm/${encodeURIComponent(key)}`, request.email));
          }),
        (failure) => emailForm(site, email, failure),
      ),
  }),
  pageRoute(parts, 'GET', '/register/', {
    dto: NoParameters,
    handle: async (visit) => {
      const { site, realm } = visit;
      if (!realm.settings.emailAuthentication) return servicePage(parts, visit, await servicesFor(visit, null));
      return realm.settings.inviteRequired ? closed(site) : emailForm(site);
    },
  }),
  pageRoute(parts, 'POST', '/register/', {
    dto: EmailDto,
    useCase: RequestSignUp,
    handle: ({ site, caller, dto: { email }, useCase }) =>
      submit(
        () =>
          orLogIn(site, email, async () => {
            const request = await useCase.execute(caller, { key: null, email });
            return seeOther(site, withEmail('/accounts/send_confirm/', request.email));
          }),
        (failure) => emailForm(site, email, failure),
      ),
  }),
];

const registrationPages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/accounts/send_confirm/', {
    dto: EmailDto,
    handle: async ({ site, dto: { email } }) =>
      pageReply({
        title: site.t('Check your email'),
        site,
        content: html`<p>${site.t(
          'We have sent a link to {email}. Open it to continue. The link expires after one day.',
          {
            email: isEmailAddress(email) ? html`<strong>${email}</strong>` : site.t('your address'),
          },
        )}</p>`,
      }),
  }),
  pageRoute(parts, 'GET', '/accounts/do_confirm/:key', {
    dto: LinkDto,
    useCase: GetSignUp,
    handle: async (visit) => {
      const { site, realm, caller, dto, useCase } = visit;
      const { key, email } = dto;
      const form = await useCase.execute(caller, { key });
      const services = await servicesFor(visit, key);
      if (!realm.settings.emailAuthentication) return servicePage(parts, visit, services, form.email);
      if (form.needsConfirmation) return seeOther(site, `/join/${encodeURIComponent(key)}/`);
      return registrationForm(site, form, { ...new RegistrationDto(), key, email }, null, [], services);
    },
  }),
  pageRoute(parts, 'POST', '/accounts/register/', {
    dto: RegistrationDto,
    isExpensive: true,
    useCase: JoinRealm,
    handle: ({ site, caller, request, dto, useCase, resolve }) =>
      submit(
        () =>
          orLogIn(site, dto.email, async () => {
            const { user, apiKey } = await useCase.execute(caller, {
              key: dto.key,
              email: dto.email,
              fullName: dto.full_name,
              password: dto.password,
              emailAddressVisibility: toEmailVisibility(dto.email_address_visibility),
              timezone: dto.timezone === '' ? null : dto.timezone,
              defaultChannelGroupIds: chosenGroups(request),
              cancellation: request.signal,
            });
            const joined = seeOther(site, '/accounts/joined/');
            // Log-in continues with the second factor.
            if (apiKey === null) return joined;
            const userAgent = request.header('user-agent') ?? '';
            const session = await resolve(OpenSession).execute({ user, userAgent, ip: caller.ip, method: 'password' });
            const headers = [...joined.headers!, ...parts.sessionCookies.begin(request, session)];
            const logIn = { method: 'password', account: user.email, failure: null, change: 'created' } as const;
            return { ...joined, headers, logIn };
          }),
        async (failure) => {
          const form = await resolve(GetSignUp).execute(caller, { key: dto.key });
          return registrationForm(site, form, dto, failure, chosenGroups(request));
        },
      ),
  }),
  pageRoute(parts, 'GET', '/accounts/joined/', {
    dto: NoParameters,
    handle: async ({ site }) =>
      pageReply({
        title: site.t('Welcome to {name}', { name: site.name }),
        site,
        content: html`<p>${site.t('You have joined.')}</p>
<p><a class="button" href="${site.base}/">${site.t('Continue in the browser')}</a></p>
${connecting(site)}`,
      }),
  }),
];

const withEmail = (path: string, email: string): string => `${path}?${new URLSearchParams({ email })}`;

/** Redirects users with an existing account to log-in. */
async function orLogIn(site: Site, email: string, send: () => Promise<Reply>): Promise<Reply> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof DomainError && error.is('EMAIL_TAKEN')) return seeOther(site, withEmail('/login/', email));
    throw error;
  }
}

type AnyVisit = Pick<Visit<unknown, unknown>, 'site' | 'realm' | 'caller' | 'resolve'>;

/** Buttons of services that accept the invitation or confirmation key; without a key, of services open to strangers. */
async function servicesFor({ site, realm, caller, resolve }: AnyVisit, key: string | null): Promise<Html | null> {
  const { methods } = await resolve(ListLogInMethods).execute(caller);
  const accepting = methods.filter((it) => isService(it) && (key !== null || admitsStrangers(it, realm)));
  return accepting.length === 0 ? null : serviceButtons(site, accepting, key);
}

/** Ways to join an organization that does not store passwords. */
function servicePage(
  { serverInfo }: PageParts,
  { site, realm }: AnyVisit,
  services: Html | null,
  email: string | null = null,
): Reply {
  const hasDirectory = usesDirectory(realm, serverInfo);
  if (services === null && !hasDirectory)
    return realm.settings.inviteRequired ? closed(site) : errorPage(site, NO_PASSWORDS);
  return pageReply({
    title: site.t('Join {name}', { name: site.name }),
    site,
    content: html`<p>${
      email === null
        ? site.t('Log in with an account that you already have.')
        : site.t('Log in with an account that has the address {email}.', { email: html`<strong>${email}</strong>` })
    }</p>
${services}${hasDirectory && html`<p><a class="button other" href="${site.base}/login/">${site.t('Log in')}</a></p>`}`,
  });
}

const closed = (site: Site): Reply =>
  pageReply({
    title: site.t('Join {name}', { name: site.name }),
    site,
    content: html`<p>${site.t('An invitation is required to join {name}. Ask a member or an administrator for one.', {
      name: site.name,
    })}</p>`,
  });

const emailForm = (site: Site, email = '', failure: Failure | null = null, services: Html | null = null): Reply =>
  pageReply({
    failure,
    title: site.t('Join {name}', { name: site.name }),
    site,
    content: html`<form method="post">
${emailField(site, email, failure)}
<p><button>${site.t('Continue')}</button></p>
</form>${orServices(site, services)}
<p>${site.t('Already have an account? {link}', {
      link: html`<a href="${site.base}/login/">${site.t('Log in')}</a>`,
    })}</p>`,
  });

const orServices = ({ t }: Site, services: Html | null): Html | null =>
  services && html`<p class="or">${t('or')}</p>${services}`;

const emailField = (
  { t }: Site,
  email: string,
  failure: Failure | null,
): Html => html`<p><label for="email">${t('Your email address')}</label>
<input id="email" name="email" type="email" autocomplete="email" required value="${email}"${fieldState(failure)}></p>`;

const VISIBILITIES: readonly (readonly [code: number, label: PageText])[] = [
  [1, 'Everyone'],
  [2, 'Members, but no guests'],
  [5, 'Moderators and administrators'],
  [3, 'Administrators'],
  [4, 'Nobody'],
];

/**
 * Name prefix of the checkboxes of default channel groups; each name includes the group id, because users may select
 * several.
 */
const GROUP_FIELD = 'default_stream_group_';

/** Bounded by the limit of a thousand fields per form. */
function chosenGroups({ parameters }: Request): readonly DefaultChannelGroupId[] {
  const names = [...parameters.names()].filter((name) => name.startsWith(GROUP_FIELD));
  return names.map((name) => Number(name.slice(GROUP_FIELD.length)) as DefaultChannelGroupId);
}

function registrationForm(
  site: Site,
  { email, emailAddressVisibility, defaultChannelGroups }: SignUpForm,
  form: RegistrationDto,
  failure: Failure | null = null,
  chosen: readonly DefaultChannelGroupId[] = [],
  services: Html | null = null,
): Reply {
  const present = USER_SETTING_FORMS.presentValue('emailAddressVisibility', emailAddressVisibility);
  const visibility = form.email_address_visibility ?? present;
  const wrong = failure && (/EMAIL|PASSWORD/.exec(failure.code ?? '')?.[0] ?? 'NAME');
  return pageReply({
    failure,
    title: site.t('Join {name}', { name: site.name }),
    site,
    content: html`<form method="post" action="${site.base}/accounts/register/">
<input type="hidden" name="key" value="${form.key}">
${
  email === null
    ? emailField(site, form.email, wrong === 'EMAIL' ? failure : null)
    : html`<p><label for="account">${site.t('Your email address')}</label>
<input id="account" type="email" autocomplete="username" readonly value="${email}"></p>`
}
<p><label for="full_name">${site.t('Your name')}</label>
<input id="full_name" name="full_name" autocomplete="name" required maxlength="100" value="${form.full_name}"${fieldState(wrong === 'NAME' ? failure : null)}></p>
${passwordField(site, 'Password', wrong === 'PASSWORD' ? failure : null)}
<p><label for="visibility">${site.t('Who may see your email address')}</label>
<select id="visibility" name="email_address_visibility">
${VISIBILITIES.map(
  ([code, label]) => html`<option value="${code}"${code === visibility && html` selected`}>${site.t(label)}</option>
`,
)}</select></p>
${
  defaultChannelGroups.length > 0 &&
  html`<fieldset><legend>${site.t('What are you interested in?')}</legend>
${defaultChannelGroups.map(
  ({
    id,
    name,
    description,
  }) => html`<label><input type="checkbox" name="${GROUP_FIELD}${id}"${chosen.includes(id) && html` checked`}>
${name}${description !== '' && html`: ${description}`}</label>
`,
)}</fieldset>
`
}<p><button>${site.t('Join')}</button></p>
</form>${orServices(site, services)}`,
  });
}
