import { openSqliteStorage } from '@parley/sqlite';
import { FixedClock, givenOn, aUser, aChannel, aMessage } from '@parley/testkit';
import { existsSync, rmSync } from 'node:fs';
import { users } from '@parley/domain';
const path='/tmp/mr/x.db'; for (const s of ['','-wal','-shm']) rmSync(path+s,{force:true});
const clock=new FixedClock();
const st=openSqliteStorage({path,clock});
const readers=Array.from({length:40},(_,i)=>'r'+i);
const scene=await givenOn(st.uow,clock,...['w',...readers].map(name=>aUser({name})),aChannel({name:'c',subscribers:['w',...readers]}),
 ...Array.from({length:20000},(_,i)=>aMessage({from:'w',to:'c',topic:`t ${i%20}`})));
const rid=scene.channel('c').recipientId;
const f=(t)=>({scope:'own',withoutRecipients:[],conditions:[{kind:'recipient',recipientId:rid,negated:false},{kind:'topic',topicKey:t,negated:false}]});
const mode=process.argv[2]??'topic'; const bare=process.argv[3];
const ids=new Map(); for(let t=0;t<20;t++) ids.set(t,scene.messages.filter(m=>m.topic===`t ${t}`).map(m=>m.id));
const times=[];
let n=0;
const stage={};
for(let t=0;t<20;t++) for(const r of readers){
  const v=scene.viewer(r);
  const t0=performance.now();
  let inner=0;
  await st.uow.write(async tx=>{ const a=performance.now();
    const c= mode==='topic'? await tx.personal.markRead(v,f(`t ${t}`)) : await tx.personal.setRead(v,ids.get(t),true);
    inner=performance.now()-a;
    if(c.length!==1000) throw new Error('bad '+c.length);
    if(!bare) await tx.events.append(scene.realm.id,{event:{type:'message.flag_changed',op:'add',flag:'read',messageIds:c,all:false,details:[]},audience:users([v.userId])});
  });
  times.push([performance.now()-t0,inner]);
}
const med=(k,from=100)=>times.slice(from).map(x=>x[k]).sort((a,b)=>a-b)[(times.length-from)>>1];
console.log(mode,'total',med(0).toFixed(3),'inner',med(1).toFixed(3));
await st.close();
