import { type EventTemplate, type Integration, type Payload, quoteOf, textOfHtml, topicOf } from './integration.js';

const published = (kind: string): EventTemplate => ({
  topic: () => topicOf('WordPress', `${kind}s`),
  text: (payload) => {
    const url = payload.has('post_url') ? 'post_url' : 'guid';
    const author = payload.has('post_author_name') ? ` by **${payload.text('post_author_name')}**` : '';
    const title = payload.has('post_title') ? payload.text('post_title') : 'without a title';
    return `New ${kind}${author}: ${payload.link(title, url)}.${quoteOf(textOfHtml(payload.maybe('post_excerpt')))}`;
  },
});

const person = (payload: Payload): string => payload.person('display_name', 'user_login', 'user_email');

/** Forms of the plugin HookPress. */
export const WORDPRESS: Integration = {
  name: 'wordpress',
  displayName: 'WordPress',
  documentation: 'https://wordpress.org/plugins/hookpress/',
  setup: `URL: ADDRESS

Hook                        Fields
publish_post, publish_page  post_title, post_excerpt, guid
comment_post                comment_author, comment_content
user_register, wp_login     user_login, display_name`,
  eventOf: (payload) => payload.raw('hook'),
  events: {
    publish_post: published('post'),
    publish_page: published('page'),
    comment_post: {
      topic: () => topicOf('WordPress', 'comments'),
      text: (payload) =>
        `${payload.person('comment_author', 'comment_author_email')} commented.${quoteOf(textOfHtml(payload.raw('comment_content')))}`,
    },
    user_register: { topic: () => topicOf('WordPress', 'users'), text: (payload) => `${person(payload)} registered.` },
    wp_login: { topic: () => topicOf('WordPress', 'users'), text: (payload) => `${person(payload)} logged in.` },
  },
  offByDefault: ['wp_login'],
  ignored: ['save_post', 'edit_post', 'edit_comment', 'delete_post', 'profile_update', 'wp_logout'],
};
