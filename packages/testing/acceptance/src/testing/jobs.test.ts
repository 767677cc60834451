import { SendInvitationEmails } from '@parley/domain/membership';
import { fieldsOf } from './expectations.js';
import { runJobs } from './jobs.js';
import { TestServer } from './test-server.js';

const handlerOf = (server: TestServer) => server.parley.useCase(SendInvitationEmails);
async function invite(server: TestServer): Promise<void> {
  const params = { invitee_emails: 'yorick@example.com', stream_ids: [] };
  fieldsOf(await server.post('/invites', server.people.desdemona, params));
}

describe('job runner of a test server', () => {
  it('runs jobs only on request, until none is due', async () => {
    const server = await TestServer.start();
    const { emails } = server.mailer;
    await invite(server);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(emails).toEqual([]);
    await invite(server);
    await runJobs(server, handlerOf(server));
    expect(emails.map(({ to }) => to)).toEqual(['yorick@example.com', 'yorick@example.com']);
    await server.close();
  });

  it('runs jobs only in the background if the test enables it', async () => {
    const server = await TestServer.start({ worksInBackground: true });
    await invite(server);
    while (server.mailer.emails.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(runJobs(server, handlerOf(server))).rejects.toThrow('The server does its jobs itself');
    await server.close();
  });
});
