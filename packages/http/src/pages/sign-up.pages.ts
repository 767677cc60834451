import { type DefaultChannelGroupId, DomainError } from '@parley/domain/kernel';
import { GetSignUp, JoinRealm, RequestSignUp, type SignUpForm } from '@parley/domain/membership';
import { isEmailAddress } from '@parley/domain/users';
import { MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../kernel/limits.js';
import { IntegerOneOfParam, NoParameters, TextParam } from '../kernel/params.js';
import type { Reply } from '../kernel/reply.js';
import type { Request } from '../kernel/request.js';
import type { Route } from '../kernel/route.js';
import { toEmailVisibility, USER_SETTING_FORMS } from '../users/user-settings.wire.js';
import { describedBy, passwordField } from './account.pages.js';
import { type Html, html } from './html.js';
import { pageReply, type Site, seeOther } from './layout.js';
import { alert, type Failure, isBrokenLink, type PageParts, pageRoute, submit } from './page-route.js';

class KeyDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) key!: string;
}

class EmailDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email = '';
}

class LinkDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) key!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) email = '';
}

/** Forms send what is not filled in as empty texts. */
class RegistrationDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) key!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) email = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) full_name = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) password = '';
  @IntegerOneOfParam([1, 2, 3, 4, 5], { optional: true }) email_address_visibility?: number;
  @TextParam({ max: MAX_TOKEN_LENGTH }) timezone = '';
}

/** Joining by invitation links, by letters, and in organizations that are open to all (organization §10.1). */
export const signUpPages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/join/:key/', {
    dto: KeyDto,
    useCase: GetSignUp,
    handle: async ({ site, realm, caller, dto, useCase }) => {
      try {
        const { email } = await useCase.execute(caller, dto);
        // Letters have a page of their own.
        return email === null ? emailForm(site) : seeOther(site, `/accounts/do_confirm/${encodeURIComponent(dto.key)}`);
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
    handle: async ({ site, realm }) => (realm.settings.inviteRequired ? closed(site) : emailForm(site)),
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
  pageRoute(parts, 'GET', '/accounts/send_confirm/', {
    dto: EmailDto,
    handle: async ({ site, dto: { email } }) =>
      pageReply({
        title: 'Look into your mail',
        site,
        content: html`<p>A link is on its way to ${isEmailAddress(email) ? html`<strong>${email}</strong>` : 'your address'}. Open it to go on.
The link is good for one day.</p>`,
      }),
  }),
  pageRoute(parts, 'GET', '/accounts/do_confirm/:key', {
    dto: LinkDto,
    useCase: GetSignUp,
    handle: async ({ site, caller, dto: { key, email }, useCase }) => {
      const form = await useCase.execute(caller, { key });
      if (form.needsConfirmation) return seeOther(site, `/join/${encodeURIComponent(key)}/`);
      return registrationForm(site, form, { ...new RegistrationDto(), key, email });
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
            await useCase.execute(caller, {
              key: dto.key,
              email: dto.email,
              fullName: dto.full_name,
              password: dto.password,
              emailAddressVisibility: toEmailVisibility(dto.email_address_visibility),
              timezone: dto.timezone === '' ? null : dto.timezone,
              defaultChannelGroupIds: chosenGroups(request),
              cancellation: request.signal,
            });
            return seeOther(site, '/accounts/joined/');
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
        title: `Welcome to ${site.name}`,
        site,
        content: html`<p>You have joined. Now log in within an app.</p>
<p><a href="${site.base}/login/">How to log in</a></p>`,
      }),
  }),
];

const withEmail = (path: string, email: string): string => `${path}?${new URLSearchParams({ email })}`;

/** Who has an account logs in. */
async function orLogIn(site: Site, email: string, send: () => Promise<Reply>): Promise<Reply> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof DomainError && error.is('EMAIL_TAKEN')) return seeOther(site, withEmail('/login/', email));
    throw error;
  }
}

const closed = (site: Site): Reply =>
  pageReply({
    title: `Join ${site.name}`,
    site,
    content: html`<p>Who wants to join ${site.name} needs an invitation. Ask a member or an administrator for one.</p>`,
  });

const emailForm = (site: Site, email = '', failure: Failure | null = null): Reply =>
  pageReply({
    status: failure?.status ?? 200,
    headers: failure?.headers ?? [],
    title: `Join ${site.name}`,
    site,
    content: html`${alert(failure)}<form method="post">
${emailField(email, failure)}
<p><button>Go on</button></p>
</form>
<p>You have an account already? <a href="${site.base}/login/">Log in</a></p>`,
  });

const emailField = (
  email: string,
  failure: Failure | null,
): Html => html`<p><label for="email">Your email address</label>
<input id="email" name="email" type="email" autocomplete="email" required value="${email}"${describedBy(failure)}></p>`;

const VISIBILITIES: readonly (readonly [code: number, label: string])[] = [
  [1, 'Everyone'],
  [2, 'Members, but no guests'],
  [5, 'Moderators and administrators'],
  [3, 'Administrators'],
  [4, 'Nobody'],
];

/** Of the groups of channels that a newcomer may choose; which, is in their names, since they may be several. */
const GROUP_FIELD = 'default_stream_group_';

/** There are no more groups, and a form has at most a thousand fields. */
function chosenGroups({ parameters }: Request): readonly DefaultChannelGroupId[] {
  const names = [...parameters.names()].filter((name) => name.startsWith(GROUP_FIELD));
  return names.map((name) => Number(name.slice(GROUP_FIELD.length)) as DefaultChannelGroupId);
}

function registrationForm(
  site: Site,
  { email, emailAddressVisibility, defaultChannelGroups }: SignUpForm,
  given: RegistrationDto,
  failure: Failure | null = null,
  chosen: readonly DefaultChannelGroupId[] = [],
): Reply {
  const present = USER_SETTING_FORMS.presentValue('emailAddressVisibility', emailAddressVisibility);
  const visibility = given.email_address_visibility ?? present;
  return pageReply({
    status: failure?.status ?? 200,
    headers: failure?.headers ?? [],
    title: `Join ${site.name}`,
    site,
    content: html`${alert(failure)}<form method="post" action="${site.base}/accounts/register/">
<input type="hidden" name="key" value="${given.key}">
${
  email === null
    ? emailField(given.email, null)
    : html`<p><label for="account">Your email address</label>
<input id="account" type="email" autocomplete="username" readonly value="${email}"></p>`
}
<p><label for="full_name">Your name</label>
<input id="full_name" name="full_name" autocomplete="name" required maxlength="100" value="${given.full_name}"${describedBy(failure)}></p>
${passwordField('Password', failure)}
<p><label for="visibility">Who may see your email address</label>
<select id="visibility" name="email_address_visibility">
${VISIBILITIES.map(
  ([code, label]) => html`<option value="${code}"${code === visibility && html` selected`}>${label}</option>
`,
)}</select></p>
${
  defaultChannelGroups.length > 0 &&
  html`<fieldset><legend>What are you interested in?</legend>
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
}<p><button>Join</button></p>
</form>`,
  });
}
