import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestServer } from '../testing/test-server.js';

describe('GET /server_settings', () => {
  const { server } = serverPerSuite();

  it('returns every field that clients read, without authentication', async () => {
    const fields = fieldsOf(await server.get('/server_settings', null));
    expect(fields).toEqual({
      authentication_methods: {
        password: true,
        dev: true,
        email: true,
        ldap: false,
        remoteuser: false,
        github: false,
        azuread: false,
        gitlab: false,
        google: false,
        apple: false,
        saml: false,
        'openid connect': false,
      },
      external_authentication_methods: [],
      zulip_feature_level: 496,
      zulip_version: '12.0',
      zulip_merge_base: '12.0',
      push_notifications_enabled: false,
      is_incompatible: false,
      email_auth_enabled: true,
      require_email_format_usernames: true,
      realm_url: server.url,
      realm_uri: server.url,
      realm_name: 'Realm zulip',
      realm_icon: `${server.url}/user_avatars/${server.realmId}/realm/icon.png?version=1`,
      realm_description: '',
      realm_web_public_access_enabled: false,
    });
  });

  it('ignores credentials, even invalid ones', async () => {
    const reply = await server.request('GET', '/server_settings', { headers: { Authorization: 'Basic nonsense' } });
    expect(reply.status).toBe(200);
  });

  it('responds to HEAD without a body and lists its methods', async () => {
    const head = await server.request('HEAD', '/server_settings');
    expect([head.status, head.body]).toEqual([200, null]);
    const post = await server.post('/server_settings', null);
    expect(post.status).toBe(405);
    expect(post.body.allowed_methods).toEqual(['GET', 'HEAD']);
  });

  it('responds for a deactivated realm', async () => {
    const other = await TestServer.start();
    await other.changeRealm({ isDeactivated: true });
    expect((await other.get('/server_settings', null)).body.realm_name).toBe('Realm zulip');
    await other.close();
  });

  it('allows spectators if server and realm allow them and a web-public channel exists', async () => {
    await server.changeRealm({ settings: { enableSpectatorAccess: true } });
    const isWelcome = async () => (await server.get('/server_settings', null)).body.realm_web_public_access_enabled;
    expect(await isWelcome()).toBe(false);
    await server.createChannel('lobby', [], { is_web_public: true });
    expect(await isWelcome()).toBe(true);
  });

  it('rejects a host without a realm', async () => {
    const reply = await server.request('GET', '/server_settings', { headers: { Host: 'nowhere.localhost' } });
    expectRefusal(reply, 'Invalid subdomain');
  });
});

describe('generated picture', () => {
  const { server } = serverPerSuite();

  it.each(['7.png', '7-medium.png', 'unknown.png', 'realm/icon.png'])('%s is public', async (file) => {
    const reply = await server.request('GET', `//user_avatars/1/${file}?version=1`);
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('image/png');
    expect(reply.headers['cache-control']).toBe('public, max-age=86400');
  });

  it.each(['7.jpg', 'x.png', '7-large.png'])('%s responds 404', async (file) => {
    expectRefusal(await server.request('GET', `//user_avatars/1/${file}`), 'Not found', { status: 404 });
  });

  it('has its URL in user data', async () => {
    const { hamlet } = server.people;
    const { avatar_url } = (await server.get('/users/me', hamlet)).body;
    const picture = await fetch(avatar_url);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
  });
});

describe('GET /compatibility', () => {
  const { server } = serverPerSuite();

  it.each([
    ['ZulipMobile/1.0.0 (iOS 14)', 200],
    ['', 200],
    [undefined, 400],
  ])('responds to User-Agent %p with status %i', async (userAgent, status) => {
    const headers = userAgent === undefined ? {} : { 'User-Agent': userAgent };
    const reply = await server.request('GET', '//compatibility', { headers });
    expect(reply.status).toBe(status);
    if (status === 400) expectRefusal(reply, 'User-Agent header missing from request');
    else expect(fieldsOf(reply)).toEqual({});
  });
});
