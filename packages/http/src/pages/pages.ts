import { isEmailAddress } from '@parley/domain/users';
import type { HttpFeature } from '../kernel/feature.js';
import { MAX_TEXT_LENGTH } from '../kernel/param-types.js';
import { NoParameters, TextParam } from '../kernel/params.js';
import type { Route } from '../kernel/route.js';
import { accountPages, signUpPages } from './account-pages.js';
import { type Html, html, type PageParts, pageReply, pageRoute, type Site, seeOther } from './layout.js';

/** Email address of a user who followed an invitation but already has an account. */
class LoginDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email = '';
}

/** Landing page and log-in page. */
export const homePages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/', {
    dto: NoParameters,
    handle: async ({ site, realm: { settings } }) =>
      pageReply({
        title: site.name,
        site,
        content: html`${settings.description !== '' && html`<p>${settings.description}</p>`}
<p>This is the address of a team chat: an organization on a Parley server, which speaks the Zulip API.</p>
${accountLinks(site, settings)}
${connecting(site)}`,
      }),
  }),
  pageRoute(parts, 'GET', '/login/', {
    dto: LoginDto,
    handle: async ({ site, dto: { email }, realm: { settings } }) =>
      pageReply({
        title: 'Log in',
        site,
        content: html`${
          isEmailAddress(email) &&
          html`<p>There is an account for <strong>${email}</strong> already.</p>
`
        }<p>You log in to ${site.name} within an app, with your email address and your password.</p>
${accountLinks(site, settings)}
${connecting(site)}`,
      }),
  }),
  pageRoute(parts, 'GET', '/help/', { dto: NoParameters, handle: async ({ site }) => seeOther(site, '/') }),
];

const accountLinks = (
  { base }: Site,
  { inviteRequired, emailAuthentication }: { readonly inviteRequired: boolean; readonly emailAuthentication: boolean },
): Html => html`<ul>
<li>${
  inviteRequired
    ? 'Who wants to join needs an invitation from a member.'
    : html`<a href="${base}/register/">Sign up</a>: anybody may join.`
}</li>
${
  emailAuthentication &&
  html`<li><a href="${base}/accounts/password/reset/">Set a new password</a>, if you forgot yours.</li>
`
}</ul>`;

/** Shows the server URL, which every client asks for. */
export const connecting = ({ url }: Site): Html => html`<h2>How to connect</h2>
<dl>
<dt>On a phone or tablet</dt>
<dd>Install <strong>Zulip</strong> for Android or iOS, choose to add an account, and enter the address
<code>${url}</code>. Then log in with your email address and your password.</dd>
<dt>In a terminal</dt>
<dd>Install <strong>Zulip Terminal</strong>, start <code>zulip-term</code>, and enter the same address.</dd>
<dt>Programs and bots</dt>
<dd>Use a library for the Zulip API, of which there are several, or plain HTTP. This fetches your API key:
<pre><code>curl ${url}/api/v1/fetch_api_key -d username=YOU@EXAMPLE.COM -d password=&hellip;</code></pre></dd>
</dl>
<p>There is no web app at this address. The desktop app of Zulip, which shows one, cannot connect.</p>`;

/** Browser pages. */
export const PAGES = {
  routes: (parts) => [...homePages(parts), ...accountPages(parts), ...signUpPages(parts)],
} satisfies HttpFeature;
