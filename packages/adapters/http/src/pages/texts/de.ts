/** German page texts, by English text. Words in braces are placeholders. */
export const TEXTS = {
  // Start page, log-in and errors.
  'Log in': 'Anmelden',
  'Log in to {name}': 'Bei {name} anmelden',
  'Log out': 'Abmelden',
  'Email address': 'E-Mail-Adresse',
  Password: 'Passwort',
  'Log in with {method}': 'Mit {method} anmelden',
  or: 'oder',
  'This is a demo. Log in as one of its people:': 'Das ist eine Demo. Anmelden als:',
  'Forgot your password?': 'Passwort vergessen?',
  'Sign up': 'Konto anlegen',
  'No account yet? {link}': 'Noch kein Konto? {link}',
  'An invitation from a member is required to join.': 'Zum Beitreten ist eine Einladung eines Mitglieds nötig.',
  'An account for {email} already exists.': 'Für {email} gibt es schon ein Konto.',
  'This organization does not allow logging in with a browser.':
    'Bei dieser Organisation kann man sich nicht im Browser anmelden.',
  'Your email address or password is incorrect.': 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  'The form has expired. Please try again.': 'Das Formular ist abgelaufen. Bitte noch einmal versuchen.',
  'This is the address of a team chat: an organization on a Parley server, which speaks the Zulip API.':
    'Dies ist die Adresse eines Team-Chats: einer Organisation auf einem Parley-Server, der die Zulip-API spricht.',
  'Is {email} your address?': 'Gehört {email} Ihnen?',
  'Prove in one of two ways that it is yours.': 'Es gibt zwei Wege, um zu zeigen, dass sie Ihnen gehört.',
  'By email': 'Mit einer E-Mail',
  'Unless the address may not log in here, we have sent a link to it. Open the link to continue.':
    'Wenn sich die Adresse hier anmelden darf, ist ein Link an sie unterwegs. Öffnen Sie ihn, um fortzufahren.',
  'By logging in': 'Mit einer Anmeldung',
  'Do you already have an account here with this address? Log in to it to connect it with {method}.':
    'Gibt es hier schon ein Konto mit dieser Adresse? Melden Sie sich dort an, um es mit {method} zu verbinden.',
  'Log in to connect': 'Anmelden und verbinden',
  'Connect your account?': 'Konto verbinden?',
  'Your account here has the address {email}, and so has an account at {method}. Connect them only if both are yours: whoever logs in there then gets into your account here.':
    'Ihr Konto hier hat die Adresse {email}, und ein Konto bei {method} auch. Verbinden Sie sie nur, wenn beide Ihnen gehören: Wer sich dort anmeldet, kommt dann in Ihr Konto hier.',
  Connect: 'Verbinden',
  'Your account is connected': 'Ihr Konto ist verbunden',
  'From now on you can log in with {method}.': 'Ab jetzt können Sie sich mit {method} anmelden.',
  'Finish logging in': 'Anmeldung abschließen',
  'Copy this code and paste it into the app. It is good for five minutes.':
    'Diesen Code kopieren und in die App einfügen. Er gilt fünf Minuten lang.',
  Code: 'Code',
  'Log in here?': 'Hier anmelden?',
  'Another page opened this address. Go on only if you began this log-in yourself: it ends the session that this browser has.':
    'Eine andere Seite hat diese Adresse geöffnet. Nur fortfahren, wenn Sie diese Anmeldung selbst begonnen haben: Die Anmeldung beendet die Sitzung dieses Browsers.',
  'How to connect': 'Verbinden',
  'On a phone or tablet': 'Mit Telefon oder Tablet',
  'Install {zulip} for Android or iOS, choose to add an account, and enter the address {url}. Then log in.':
    '{zulip} für Android oder iOS installieren, ein Konto hinzufügen und die Adresse {url} eingeben. Dann anmelden.',
  'In a terminal': 'Im Terminal',
  'Install {terminal}, start {command}, and enter the same address.':
    '{terminal} installieren, {command} starten und dieselbe Adresse eingeben.',
  'Programs and bots': 'Programme und Bots',
  'Use a library for the Zulip API or plain HTTP. This fetches your API key:':
    'Eine Bibliothek für die Zulip-API oder einfaches HTTP verwenden. So erhält man den eigenen API-Schlüssel:',
  'Something went wrong': 'Etwas ist schiefgegangen',
  'That did not work': 'Das hat nicht geklappt',
  'Page not found': 'Seite nicht gefunden',
  'There is no page at this address.': 'Unter dieser Adresse gibt es keine Seite.',
  'Go to the start page': 'Zur Startseite',
  'This feature is not configured on this server.': 'Diese Funktion ist auf diesem Server nicht eingerichtet.',
  'No organization': 'Keine Organisation',
  'There is no organization at this address.': 'Unter dieser Adresse gibt es keine Organisation.',
  'This is a Parley server: a team chat that speaks the Zulip API. Each organization on it has an address of its own; ask whoever invited you for yours.':
    'Dies ist ein Parley-Server: ein Team-Chat, der die Zulip-API spricht. Jede Organisation darauf hat eine eigene Adresse; die eigene nennt, wer eingeladen hat.',
  'If you run this server, {list} shows the addresses, and {create} makes the first organization.':
    'Wer diesen Server betreibt, sieht mit {list} die Adressen und legt mit {create} die erste Organisation an.',
  'This organization has been deactivated.': 'Diese Organisation wurde deaktiviert.',
  'This form was sent from a page of another site. Reload the page and send the form again.':
    'Dieses Formular kam von der Seite eines anderen Anbieters. Bitte die Seite neu öffnen und von dort absenden.',
  'The server is busy; try again in a moment.': 'Der Server ist ausgelastet. Bitte gleich noch einmal versuchen.',
  'Too many attempts. Try again in {count} minutes.':
    'Das wurde zu oft versucht. In {count} Minuten ist es wieder möglich.',
  'Too many attempts. Try again in one minute.': 'Das wurde zu oft versucht. In einer Minute ist es wieder möglich.',
  'Too many attempts. Try again in {count} hours.':
    'Das wurde zu oft versucht. In {count} Stunden ist es wieder möglich.',

  // Email address and password.
  'Confirm your new address': 'Neue Adresse bestätigen',
  'Confirm to use {email} for logging in and receiving email.':
    'Die Adresse des Kontos wird {email}. Damit meldet man sich an, und dorthin gehen E-Mails.',
  Confirm: 'Bestätigen',
  'Your address has changed': 'Die Adresse ist geändert',
  'The address of your account is now {email}. Use it to log in.':
    'Die Adresse des Kontos ist ab jetzt {email}. Damit meldet man sich an.',
  'This organization does not use passwords.': 'Bei dieser Organisation meldet man sich nicht mit einem Passwort an.',
  'Check your email': 'Bitte E-Mails abrufen',
  'If an account with this address exists, we have sent it a link to set a new password. The link expires after one day.':
    'Falls es ein Konto mit dieser Adresse gibt, ist ein Link für ein neues Passwort dorthin unterwegs. Er gilt einen Tag lang.',
  'Your password has changed': 'Das Passwort ist geändert',
  'Use the new password to log in. Your API keys have not changed.':
    'Ab jetzt gilt das neue Passwort. API-Schlüssel bleiben, wie sie waren.',
  'Set a new password': 'Neues Passwort setzen',
  'Email address of your account': 'E-Mail-Adresse des Kontos',
  'Send a link': 'Link senden',
  Account: 'Konto',
  'New password': 'Neues Passwort',
  'Set the password': 'Passwort setzen',
  'At least {count} characters, and not easily guessed.': 'Mindestens {count} Zeichen und nicht leicht zu erraten.',

  // Second factor.
  'Second factor': 'Zweiter Faktor',
  'Confirm that it is you': 'Bitte bestätigen, dass Sie es sind',
  'Log in with a passkey': 'Mit einem Passkey anmelden',
  'Your device asks for your fingerprint, your face or its PIN.':
    'Ihr Gerät fragt nach Fingerabdruck, Gesicht oder PIN.',
  'Continue with a passkey': 'Weiter mit einem Passkey',
  'Log in another way': 'Anders anmelden',
  'The passkey could not be used. Try again.': 'Der Passkey ließ sich nicht verwenden. Bitte noch einmal versuchen.',
  'This browser cannot use passkeys here.': 'Dieser Browser kann hier keine Passkeys verwenden.',
  'Passkeys need scripts, which are turned off in this browser.':
    'Passkeys brauchen Skripte, die in diesem Browser ausgeschaltet sind.',
  'Your authenticator app shows six digits for this account. Each code is good once.':
    'Die Authenticator-App zeigt sechs Ziffern für dieses Konto. Jeder Code gilt einmal.',
  'Lost your device?': 'Gerät verloren?',
  'Recovery code': 'Wiederherstellungscode',
  'Use one of the codes that you saved. Without any, ask an administrator to remove your second factor.':
    'Einen der gespeicherten Codes verwenden. Wer keinen mehr hat, kann den zweiten Faktor von der Administration entfernen lassen.',
  'Use a recovery code': 'Wiederherstellungscode verwenden',
  'Enter your password again to see and change how you log in.':
    'Bitte das Passwort noch einmal eingeben, um die Anmeldung zu ändern.',
  'After your password, {name} asks for one of these:': 'Nach dem Passwort fragt {name} nach einem davon:',
  '{name} requires a second factor for your account. Choose one to continue.':
    '{name} verlangt für dieses Konto einen zweiten Faktor. Bitte einen auswählen, um fortzufahren.',
  'A second factor protects your account even if somebody learns your password.':
    'Ein zweiter Faktor schützt das Konto auch dann, wenn jemand das Passwort erfährt.',
  'Authenticator app': 'Authenticator-App',
  Passkey: 'Passkey',
  Remove: 'Entfernen',
  'Recovery codes left: {count}': 'Übrige Wiederherstellungscodes: {count}',
  'Make new ones': 'Neue erzeugen',
  'An app on your phone shows a new code every 30 seconds.':
    'Eine App auf dem Telefon zeigt alle 30 Sekunden einen neuen Code.',
  'Replace the app': 'Die App ersetzen',
  'Set up an app': 'Eine App einrichten',
  'A passkey is your device itself, a security key or a password manager. It also logs you in without a password.':
    'Ein Passkey ist das Gerät selbst, ein Sicherheitsschlüssel oder ein Passwortmanager. Er meldet auch ohne Passwort an.',
  'Add a passkey': 'Passkey hinzufügen',
  'Name of the passkey': 'Name des Passkeys',
  'Scan this picture with an authenticator app, such as Aegis, Google Authenticator or your password manager.':
    'Dieses Bild mit einer Authenticator-App scannen, zum Beispiel Aegis, Google Authenticator oder dem Passwortmanager.',
  'Or type this key into the app:': 'Oder diesen Schlüssel in die App eintippen:',
  'Code that the app shows': 'Code, den die App zeigt',
  'Second factor is on': 'Der zweite Faktor ist eingerichtet',
  'Save these recovery codes outside this device. Each logs you in once if you lose your second factor. They are not shown again.':
    'Diese Wiederherstellungscodes außerhalb dieses Geräts aufbewahren. Jeder meldet einmal an, wenn der zweite Faktor verloren ist. Sie werden nicht noch einmal gezeigt.',
  Done: 'Fertig',
  'That did not match. Try again with a new code.':
    'Das stimmte nicht. Bitte mit einem neuen Code noch einmal versuchen.',
  'Your account has no password, which a second factor would protect.':
    'Dieses Konto hat kein Passwort, das ein zweiter Faktor schützen könnte.',
  'Password is incorrect.': 'Das Passwort ist falsch.',
  'There is no such second factor.': 'Diesen zweiten Faktor gibt es nicht.',
  'Your organization requires a second factor. Add another one first.':
    'Ihre Organisation verlangt einen zweiten Faktor. Bitte erst einen anderen hinzufügen.',
  'You have too many passkeys.': 'Es gibt schon zu viele Passkeys.',

  // Sessions.
  'Where you are logged in': 'Wo Sie angemeldet sind',
  'Browsers and desktop apps': 'Browser und Desktop-Apps',
  'None.': 'Keine.',
  'Unknown browser': 'Unbekannter Browser',
  '(this browser)': '(dieser Browser)',
  'Logged in: {time}': 'Angemeldet: {time}',
  'Logged in: {time}, from {address}': 'Angemeldet: {time}, von {address}',
  'Last used: {time}': 'Zuletzt benutzt: {time}',
  'Log out everywhere else': 'Überall sonst abmelden',
  'Phones, terminals and programs': 'Telefone, Terminals und Programme',
  'They share your API key. A new key logs all of them out, and all other browsers.':
    'Sie haben denselben API-Schlüssel. Ein neuer Schlüssel meldet sie alle ab, und alle anderen Browser.',
  'Last log-in: {time}, {place}': 'Letzte Anmeldung: {time}, {place}',
  'Nobody has logged in with this key yet.': 'Mit diesem Schlüssel hat sich noch niemand angemeldet.',
  'Make a new API key': 'Neuen API-Schlüssel erzeugen',
  'You are logged out': 'Sie sind abgemeldet',
  'You are still logged in at the service through which you logged in here.':
    'Bei dem Dienst, über den Sie sich hier angemeldet haben, sind Sie weiter angemeldet.',
  'Log out there too': 'Auch dort abmelden',

  // Joining.
  'Join {name}': '{name} beitreten',
  'An invitation is required to join {name}. Ask a member or an administrator for one.':
    'Zum Beitreten bei {name} ist eine Einladung nötig. Mitglieder und Administratoren können einladen.',
  'Your email address': 'Ihre E-Mail-Adresse',
  'Log in with an account that you already have.': 'Melden Sie sich mit einem Konto an, das Sie schon haben.',
  'Log in with an account that has the address {email}.':
    'Melden Sie sich mit einem Konto an, das die Adresse {email} hat.',
  'Confirm your address': 'Adresse bestätigen',
  'Log in again to confirm that {email} is your address.':
    'Melden Sie sich noch einmal an, um zu bestätigen, dass {email} Ihre Adresse ist.',
  Continue: 'Weiter',
  'Already have an account? {link}': 'Schon ein Konto? {link}',
  'We have sent a link to {email}. Open it to continue. The link expires after one day.':
    'Ein Link ist unterwegs an {email}. Öffnen Sie ihn, um fortzufahren. Er gilt einen Tag lang.',
  'your address': 'Ihre Adresse',
  'Your name': 'Ihr Name',
  'Who may see your email address': 'Wer Ihre E-Mail-Adresse sehen darf',
  Everyone: 'Alle',
  'Members, but no guests': 'Mitglieder, aber keine Gäste',
  'Moderators and administrators': 'Moderatoren und Administratoren',
  Administrators: 'Administratoren',
  Nobody: 'Niemand',
  'What are you interested in?': 'Was interessiert Sie?',
  Join: 'Beitreten',
  'Welcome to {name}': 'Willkommen bei {name}',
  'You have joined.': 'Sie sind beigetreten.',
  'Continue in the browser': 'Weiter im Browser',

  // Errors of the operations behind the forms.
  'The app sent an invalid one-time pad.': 'Die App hat einen ungültigen Schlüssel geschickt.',
  'There is no such way to log in.': 'Diese Art der Anmeldung gibt es nicht.',
  'The log-in took too long or was interrupted. Try again.':
    'Die Anmeldung dauerte zu lange oder wurde unterbrochen. Bitte noch einmal versuchen.',
  'The service for logging in does not respond as expected. Try again later.':
    'Der Anmeldedienst antwortet nicht wie erwartet. Bitte später noch einmal versuchen.',
  'The service did not confirm who you are.': 'Der Anmeldedienst hat die Identität nicht bestätigt.',
  'The service does not vouch for your email address.': 'Der Anmeldedienst bürgt nicht für die E-Mail-Adresse.',
  'Log in to the account with this address first.': 'Bitte zuerst beim Konto mit dieser Adresse anmelden.',
  'Enter a valid email address.': 'Bitte eine gültige E-Mail-Adresse eingeben.',
  'Invalid address.': 'Die Adresse ist ungültig.',
  'Already has an account.': 'Dafür gibt es schon ein Konto.',
  'Please use your real email address.': 'Bitte die echte E-Mail-Adresse verwenden.',
  'The password is too weak.': 'Das Passwort ist zu schwach.',
  'Account is deactivated': 'Das Konto ist deaktiviert.',
  'Account has been deactivated.': 'Das Konto wurde deaktiviert.',
  'Unique names required in this organization.': 'In dieser Organisation muss jeder Name eindeutig sein.',
  'Invalid characters in name!': 'Der Name enthält unzulässige Zeichen.',
  'Invalid format!': 'Der Name hat ein unzulässiges Format.',
  'The invitation link is malformed.': 'Der Einladungslink ist beschädigt.',
  'The invitation link could not be found.': 'Diesen Einladungslink gibt es nicht.',
  'Too many people are signing up at the moment. Try again tomorrow.':
    'Zurzeit legen zu viele Leute Konten an. Bitte morgen noch einmal versuchen.',
  Unsubscribe: 'Abbestellen',
  'Do you want no more emails of this kind from {name}?': 'Sollen keine E-Mails dieser Art von {name} mehr kommen?',
  'You will get no more emails of this kind. You can turn them on again in your settings.':
    'Es kommen keine E-Mails dieser Art mehr. In den Einstellungen lassen sie sich wieder einschalten.',
  'This link is not valid.': 'Dieser Link ist nicht gültig.',
  'Name too short!': 'Der Name ist zu kurz.',
  'Name too long!': 'Der Name ist zu lang.',
  'Password authentication is disabled in this organization':
    'Bei dieser Organisation meldet man sich nicht mit einem Passwort an.',
  'The confirmation link has expired or been deactivated.': 'Der Link ist abgelaufen oder nicht mehr gültig.',
  'The confirmation link could not be found.': 'Diesen Link gibt es nicht.',
  'The invitation link has expired or been deactivated.': 'Der Einladungslink ist abgelaufen oder nicht mehr gültig.',
} as const satisfies Readonly<Record<string, string>>;
