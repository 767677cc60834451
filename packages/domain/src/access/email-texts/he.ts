/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'אישור הכתובת שלכם עבור {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'אתם נרשמים אל {organization}. כדי להמשיך, אשרו שזו הכתובת שלכם.',
  'The link expires after one day.': 'תוקף הקישור פג לאחר יום אחד.',
  'Complete registration': 'השלמת ההרשמה',
  'If you did not request this, ignore this email.': 'אם לא ביקשתם זאת, התעלמו מהודעה זו.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'מישהו נכנס אל {organization} דרך שירות שלא אימת כתובת זו. אשרו שהיא שלכם והיכנסו שוב.',
  'Confirm this address': 'אישור כתובת זו',
  'Confirm your new address for {name}': 'אישור הכתובת החדשה שלכם עבור {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'אתם משנים את כתובת החשבון שלכם ב־{organization} אל {email}.',
  'Your account at {name}': 'החשבון שלכם ב־{name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'יש לכם חשבון, {email}, ב־{organization}. הגדירו סיסמה כדי להיכנס.',
  'Set a password': 'הגדרת סיסמה',
  'Set a new password for {name}': 'הגדרת סיסמה חדשה עבור {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'מישהו ביקש סיסמה חדשה עבור החשבון {email} ב־{organization}.',
  'Set a new password': 'הגדרת סיסמה חדשה',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'החשבון מושבת. מנהל הארגון יכול להפעיל אותו מחדש.',
  'New log-in to {name}': 'כניסה חדשה אל {name}',
  'Someone logged in to your account {email} at {organization}.': 'מישהו נכנס לחשבון שלכם {email} ב־{organization}.',
  'Time: {time}': 'זמן: {time}',
  'Program: {program}': 'תוכנית: {program}',
  'Network address: {ip}': 'כתובת רשת: {ip}',
  unknown: 'לא ידוע',
  'If this was not you, set a new password immediately and get a new API key.':
    'אם לא הייתם אלה אתם, הגדירו מיד סיסמה חדשה והשיגו מפתח API חדש.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'קיבלתם הודעה זו כי התראות על כניסות חדשות מופעלות בהגדרות שלכם.',
  'Your address at {name} has changed': 'הכתובת שלכם ב־{name} השתנתה',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'כתובת החשבון שלכם ב־{organization} היא כעת {email}. היכנסו באמצעותה; גם הודעות הדוא״ל נשלחות אליה.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'אם לא שיניתם אותה, הודיעו מיד למנהל הארגון.',
  'Welcome to {name}': 'ברוכים הבאים אל {name}',
  'You have joined {name}. Log in with:': 'הצטרפתם אל {name}. כך נכנסים:',
  'Organization: {url}': 'ארגון: {url}',
  'Address: {email}': 'כתובת: {email}',
  'Password: the one you chose when you signed up': 'סיסמה: זו שבחרתם בעת ההרשמה',
  'Password: none; log in the same way as when you joined': 'סיסמה: אין; היכנסו כפי שהצטרפתם',
  'How to connect': 'איך מתחברים',
  'Your account at {name} has been deactivated': 'החשבון שלכם ב־{name} הושבת',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    'החשבון שלכם ב־{organization} הושבת על ידי {person}. לא תוכלו עוד להיכנס.',
  'An administrator': 'מנהל הארגון',
  'Comment by {person}:': 'הערה מאת {person}:',
  'Second factor of your account at {name}': 'אמצעי אימות שני של החשבון שלכם ב־{name}',
  'A second factor was added to your account {email} at {organization}.':
    'אמצעי אימות שני נוסף לחשבון שלכם {email} ב־{organization}.',
  'A second factor was removed from your account {email} at {organization}.':
    'אמצעי אימות שני הוסר מהחשבון שלכם {email} ב־{organization}.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'מנהל הסיר את כל אמצעי האימות השניים מהחשבון שלכם {email} ב־{organization}.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'אם לא ציפיתם לכך, הגדירו מיד סיסמה חדשה ובדקו את אמצעי האימות השניים של החשבון.',
  'Second factors of your account': 'אמצעי האימות השניים של החשבון',
  '{person} has invited you to join {name}': 'הזמנה להצטרף אל {name} מאת {person}',
  'Reminder: {subject}': 'תזכורת: {subject}',
  'Hello,': 'שלום,',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    'קיבלתם הזמנה מאת {person} להצטרף אל {name}, שם צוותים מדברים בערוצים ובנושאים.',
  'This is a reminder: the invitation expires soon.': 'זוהי תזכורת: תוקף ההזמנה יפוג בקרוב.',
  'If you do not want to join, ignore this email.': 'אם אינכם רוצים להצטרף, התעלמו מהודעה זו.',
  '{name} notifications': 'התראות מאת {name}',
  'Test notification': 'התראת ניסיון',
  'This is a test notification from {organization}.': 'זוהי התראת ניסיון מאת {organization}.',
  'New messages': 'הודעות חדשות',
  'There are more messages in this conversation.': 'יש הודעות נוספות בשיחה זו.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'הודעה זו אינה כוללת את תוכן ההודעות כי כיביתם אותו בהתראות הדוא״ל.',
  'This email does not include message content because your organization hides message content in email.':
    'הודעה זו אינה כוללת את תוכן ההודעות כי הארגון שלכם מסתיר אותו בדוא״ל.',
  'DMs with {name}': 'הודעות ישירות עם {name}',
  'Group DMs with {names}': 'הודעות קבוצתיות עם {names}',
  '{count} more': 'עוד {count}',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'קיבלתם הודעה זו כי התראות דוא״ל על הודעות ישירות מופעלות.',
  'You are receiving this because you were personally mentioned.': 'קיבלתם הודעה זו כי אזכרו אתכם אישית.',
  'You are receiving this because @{group} was mentioned.': 'קיבלתם הודעה זו כי אזכרו את @{group}.',
  'You are receiving this because all topic participants were mentioned.':
    'קיבלתם הודעה זו כי אזכרו את כל משתתפי הנושא.',
  'You are receiving this because everyone in the channel was mentioned.': 'קיבלתם הודעה זו כי אזכרו את כל מי שבערוץ.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'קיבלתם הודעה זו כי התראות על אזכורים כלליים מופעלות בנושאים שאתם עוקבים אחריהם.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'קיבלתם הודעה זו כי התראות דוא״ל מופעלות בנושאים שאתם עוקבים אחריהם.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'קיבלתם הודעה זו כי התראות דוא״ל מופעלות עבור {channel}.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'קיבלתם הודעה זו כי התראות דוא״ל מופעלות עבור הערוץ.',
  'Do not reply to this email.': 'אין להשיב להודעה זו.',
  'Reply to this email directly, or in the chat.': 'השיבו ישירות להודעה זו, או בצ׳אט.',
  'View or reply in {name}': 'הצגה או תגובה ב־{name}',
  'Manage email preferences': 'העדפות דוא״ל',
  Unsubscribe: 'ביטול הרשמה',
  'Weekly digest of {name}': 'סיכום שבועי של {name}',
  'Open {name}': 'פתיחת {name}',
  '{name} digest': 'סיכום מאת {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'קיבלתם הודעה זו כי לא הייתם פעילים כמה ימים וסיכומי דוא״ל מופעלים.',
  'Unread messages: {messages}, senders: {senders}': 'הודעות שלא נקראו: {messages}, שולחים: {senders}',
  'New channels': 'ערוצים חדשים',
  'News of the last week in {name}:': 'חדשות השבוע האחרון ב־{name}:',
  'Busy conversations: {count}': 'שיחות ערות: {count}',
  'New channels: {count}': 'ערוצים חדשים: {count}',
};
