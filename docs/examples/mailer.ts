// Chat that sends email through a provider's HTTP API instead of SMTP: http://localhost:3000/chat
import { createHttpServer, createParley } from 'parley';
import type { Email, Mailer } from 'parley/domain/access';

const port = Number(process.env.PORT ?? 3000);

class HttpMailer implements Mailer {
  constructor(private readonly api: string) {}

  async send({ to, senderName, subject, text, html, deliveryId }: Email): Promise<void> {
    const response = await fetch(this.api, {
      method: 'POST',
      // A repeated attempt has the same id, so the provider can recognize it.
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': deliveryId ?? crypto.randomUUID() },
      body: JSON.stringify({ from: `${senderName} <chat@example.com>`, to, subject, text, html }),
    });
    // Parley retries after an exception.
    if (!response.ok) throw new Error(`The email provider answered ${response.status}`);
  }
}

const parley = await createParley({
  database: 'sqlite:data/chat.db',
  url: `http://localhost:${port}/chat`,
  mailer: new HttpMailer(process.env.MAIL_API ?? 'http://localhost:3001/emails'),
});
await parley.realms.ensure({ name: 'shop', title: 'The Shop' });
await parley.users.upsert({
  realm: 'shop',
  externalId: 'sam',
  name: 'Sam',
  email: 'sam@example.com',
  role: 'owner',
});

const chat = parley.mount();
const server = createHttpServer((request, response) => {
  chat(request, response, () => response.writeHead(404).end());
}).listen(port, () => console.log(`http://localhost:${port}/chat`));

process.once('SIGTERM', async () => {
  server.close();
  await parley.close();
});
